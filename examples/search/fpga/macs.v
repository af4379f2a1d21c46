// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// LANES multiply-accumulate units side by side, each WIDTH bits wide, with STAGES registers on the
// way from the inputs to the product: more stages run faster and take more cells.
module macs #(
    parameter LANES = 2,
    parameter WIDTH = 8,
    parameter STAGES = 1
) (
    input clk,
    input [WIDTH-1:0] sample,
    input [WIDTH-1:0] weight,
    output reg [2*WIDTH-1:0] sum
);
  wire [2*WIDTH*LANES-1:0] partial;

  genvar lane;
  generate
    for (lane = 0; lane < LANES; lane = lane + 1) begin : mac
      // Every lane works on a different function of the inputs, so that none is left out.
      reg [WIDTH-1:0] a;
      reg [WIDTH-1:0] b;
      reg [2*WIDTH-1:0] product[0:STAGES-1];
      reg [2*WIDTH-1:0] accumulator;
      integer stage;
      always @(posedge clk) begin
        a <= sample ^ lane;
        b <= weight + 3 * lane;
        product[0] <= a * b;
        for (stage = 1; stage < STAGES; stage = stage + 1) product[stage] <= product[stage-1];
        accumulator <= accumulator + product[STAGES-1];
      end
      assign partial[2*WIDTH*lane+:2*WIDTH] = accumulator;
    end
  endgenerate

  integer i;
  reg [2*WIDTH-1:0] folded;
  always @* begin
    folded = 0;
    for (i = 0; i < LANES; i = i + 1) folded = folded ^ partial[2*WIDTH*i+:2*WIDTH];
  end
  always @(posedge clk) sum <= folded;
endmodule
