# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Recurrent networks as they are used for speech and text, to be exported with random weights."""

import torch


class VoiceDetector(torch.nn.Module):
    """Voice activity of one frame of samples; the state is an input and an output."""

    def __init__(self, window=256, hidden=128):
        super().__init__()
        self.spectrum = torch.nn.Conv1d(1, 2 * (window // 2 + 1), window, stride=window // 2, bias=False)
        self.encoder = torch.nn.Sequential(
            torch.nn.Conv1d(window // 2 + 1, 128, 3, padding=1), torch.nn.ReLU(),
            torch.nn.Conv1d(128, 64, 3, stride=2, padding=1), torch.nn.ReLU(),
            torch.nn.Conv1d(64, hidden, 3, padding=1), torch.nn.ReLU())
        self.recurrent = torch.nn.LSTM(hidden, hidden, batch_first=True)
        self.decoder = torch.nn.Linear(hidden, 1)

    def forward(self, samples, hidden, cell):
        real, imaginary = self.spectrum(samples.unsqueeze(1)).chunk(2, dim=1)
        features = self.encoder(torch.sqrt(real * real + imaginary * imaginary))
        sequence, (hidden, cell) = self.recurrent(features.transpose(1, 2), (hidden, cell))
        return torch.sigmoid(self.decoder(torch.relu(sequence))).mean(dim=1), hidden, cell


class KeywordSpotter(torch.nn.Module):
    """Keyword in a second of filter bank features."""

    def __init__(self, features=40, hidden=128, keywords=12):
        super().__init__()
        self.convolution = torch.nn.Sequential(
            torch.nn.Conv2d(1, 32, (5, 20), stride=(2, 8)), torch.nn.BatchNorm2d(32), torch.nn.ReLU())
        self.recurrent = torch.nn.GRU(32 * ((features - 20) // 8 + 1), hidden, num_layers=2,
                                      batch_first=True)
        self.decoder = torch.nn.Linear(hidden, keywords)

    def forward(self, features):
        planes = self.convolution(features.unsqueeze(1))
        sequence, _ = self.recurrent(planes.transpose(1, 2).flatten(2))
        return self.decoder(sequence[:, -1])


class Tagger(torch.nn.Module):
    """A tag for every word."""

    def __init__(self, words=10000, width=100, hidden=200, tags=18):
        super().__init__()
        self.embedding = torch.nn.Embedding(words, width)
        self.recurrent = torch.nn.LSTM(width, hidden, num_layers=2, bidirectional=True,
                                       batch_first=True)
        self.decoder = torch.nn.Linear(2 * hidden, tags)

    def forward(self, words):
        sequence, _ = self.recurrent(self.embedding(words))
        return torch.log_softmax(self.decoder(sequence), dim=-1)


class TextRecognizer(torch.nn.Module):
    """Convolutions over a line of text, then two bidirectional LSTMs (Shi et al. 2017)."""

    def __init__(self, characters=37):
        super().__init__()
        widths = [1, 64, 128, 256, 256, 512]
        pools = [(2, 2), (2, 2), (2, 1), (2, 1), (2, 1)]
        layers = []
        for i, pool in enumerate(pools):
            layers += [torch.nn.Conv2d(widths[i], widths[i + 1], 3, padding=1),
                       torch.nn.BatchNorm2d(widths[i + 1]), torch.nn.ReLU(),
                       torch.nn.MaxPool2d(pool, pool)]
        self.convolutions = torch.nn.Sequential(*layers)
        self.recurrent = torch.nn.LSTM(512, 256, num_layers=2, bidirectional=True)
        self.decoder = torch.nn.Linear(512, characters)

    def forward(self, image):
        columns = self.convolutions(image).squeeze(2).permute(2, 0, 1)
        return self.decoder(self.recurrent(columns)[0])
