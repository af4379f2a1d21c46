# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""The calls of gurobipy that CoSA makes, answered by HiGHS.

Expressions are polynomials of the second degree. A product of two binary variables, which HiGHS does
not know, becomes a variable z with z <= x, z <= y and z >= x + y - 1 (McCormick): between 0 and 1
those have exactly the solutions of z = x y. Other products are refused. A variable that is the
maximum of others is set after the search, and refused where anything else depends on it.

`cosa_comparison.py` puts this module into the place of gurobipy. OPTIONS are those of HiGHS, SOLVED
says how each model ended.
"""

import dataclasses
import math

import highspy
import numpy

OPTIONS = {"output_flag": False, "threads": 1}
SOLVED = []
TOLERANCE = 1e-3  # of logarithms to base 2


@dataclasses.dataclass
class Solved:
    is_optimal: bool
    gap: float
    objective: float
    variables: int
    products: int
    constraints: int


class GRB:
    BINARY, INTEGER, CONTINUOUS = "B", "I", "C"
    MINIMIZE, MAXIMIZE = 1, -1
    INFINITY = math.inf


class Maximum:
    def __init__(self, variables):
        self.variables = variables


def max_(*variables):
    return Maximum(list(variables[0]) if len(variables) == 1 else list(variables))


@dataclasses.dataclass
class Constraint:
    """Expression `relation` 0, or a variable that is a maximum."""

    expression: object
    relation: str
    maximum: object = None


class Operators:
    """Arithmetic and comparisons of variables and expressions; those of numpy's numbers, too."""

    __array_ufunc__ = None

    def __add__(self, other):
        return Expression().add(self).add(other)

    __radd__ = __add__

    def __sub__(self, other):
        return Expression().add(self).add(other, -1)

    def __rsub__(self, other):
        return Expression().add(other).add(self, -1)

    def __neg__(self):
        return Expression().add(self, -1)

    def __mul__(self, other):
        return product(self, other)

    __rmul__ = __mul__

    def __le__(self, other):
        return Constraint(self - other, "<=")

    def __ge__(self, other):
        return Constraint(other - self, "<=")

    def __eq__(self, other):
        if isinstance(other, Maximum):
            return Constraint(self, "max", other)
        return Constraint(self - other, "==")

    __hash__ = object.__hash__


class Variable(Operators):
    def __init__(self, index, low, high, kind, name):
        self.index, self.low, self.high, self.kind, self.varName = index, low, high, kind, name
        self.x = None

    @property
    def is_binary(self):
        return self.kind != GRB.CONTINUOUS and self.low >= 0 and self.high <= 1


class Expression(Operators):
    """Coefficients of tuples of no, one or two variables, sorted by index."""

    def __init__(self):
        self.terms = {}

    def add(self, other, factor=1):
        for variables, coefficient in terms_of(other):
            self.terms[variables] = self.terms.get(variables, 0) + factor * coefficient
        return self

    def __iadd__(self, other):
        return self.add(other)


def terms_of(value):
    if isinstance(value, Expression):
        return list(value.terms.items())
    if isinstance(value, Variable):
        return [((value,), 1)]
    return [((), float(value))]


def product(left, right):
    result = Expression()
    for a, p in terms_of(left):
        for b, q in terms_of(right):
            variables = tuple(sorted(a + b, key=lambda variable: variable.index))
            if len(variables) > 2:
                raise ValueError("a product of three variables")
            if len(variables) == 2 and variables[0] is variables[1] and variables[0].is_binary:
                variables = variables[:1]
            result.terms[variables] = result.terms.get(variables, 0) + p * q
    return result


def value_at_solution(expression):
    return sum(coefficient * math.prod(variable.x for variable in variables)
               for variables, coefficient in expression.terms.items())


class Model:
    def __init__(self, name=""):
        self.name = name
        self.variables, self.constraints, self.maxima = [], [], []
        self.objective, self.sense = Expression(), GRB.MINIMIZE
        self.ModelSense = GRB.MINIMIZE

    def addVar(self, lb=0.0, ub=GRB.INFINITY, vtype=GRB.CONTINUOUS, name=""):
        high = min(ub, 1.0) if vtype == GRB.BINARY else ub
        self.variables.append(Variable(len(self.variables), lb, high, vtype, name))
        return self.variables[-1]

    def addConstr(self, constraint, name=""):
        (self.maxima if constraint.maximum else self.constraints).append(constraint)

    def setObjective(self, expression, sense=None):
        self.objective = Expression().add(expression)
        self.sense = sense or self.ModelSense

    def getVars(self):
        return self.variables

    def write(self, file):
        """Nothing: the file would only be for reading."""

    def optimize(self):
        linear = LinearModel(self)
        values = linear.solve()
        for variable in self.variables:
            value = values[variable.index]
            variable.x = float(round(value)) if variable.kind != GRB.CONTINUOUS else float(value)
        for constraint in self.maxima:
            constraint.expression.x = max(variable.x for variable in constraint.maximum.variables)
        self.objVal = value_at_solution(self.objective)
        self.check(linear.objective)
        SOLVED.append(Solved(linear.is_optimal, linear.gap, self.objVal, len(self.variables), len(linear.products),
                             len(self.constraints)))

    def check(self, objective):
        """That the solution, with its products and its whole numbers, is one of this model."""
        for constraint in self.constraints:
            excess = value_at_solution(constraint.expression)
            if (abs(excess) if constraint.relation == "==" else excess) > TOLERANCE:
                raise RuntimeError("HiGHS's solution does not fit the model")
        if abs(self.objVal - objective) > TOLERANCE:
            raise RuntimeError("HiGHS's objective is not the model's")


class LinearModel:
    """The model with a column for each product, as HiGHS takes it."""

    def __init__(self, model):
        self.model, self.products, self.rows = model, {}, []
        free = {constraint.expression for constraint in model.maxima}
        for constraint in model.constraints:
            row, constant = self.linear(constraint.expression)
            if free & {variable for term in constraint.expression.terms for variable in term}:
                raise ValueError("a constraint on a maximum")
            self.rows.append((row, -constant if constraint.relation == "==" else -math.inf, -constant))
        self.costs, self.offset = self.linear(model.objective)
        for (x, y), z in self.products.items():
            self.rows.append(({z: 1, x.index: -1}, -math.inf, 0))
            self.rows.append(({z: 1, y.index: -1}, -math.inf, 0))
            self.rows.append(({x.index: 1, y.index: 1, z: -1}, -math.inf, 1))

    def linear(self, expression):
        """{column: coefficient} and the constant."""
        row, constant = {}, 0.0
        for variables, coefficient in expression.terms.items():
            if not variables:
                constant += coefficient
            elif coefficient != 0:
                column = variables[0].index if len(variables) == 1 else self.column_of(variables)
                row[column] = row.get(column, 0) + coefficient
        return row, constant

    def column_of(self, pair):
        if not all(variable.is_binary for variable in pair):
            raise ValueError("a product of variables that are not binary")
        return self.products.setdefault(pair, len(self.model.variables) + len(self.products))

    def program(self):
        variables, products = self.model.variables, len(self.products)
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(variables) + products, len(self.rows)
        costs = numpy.zeros(program.num_col_)
        for column, cost in self.costs.items():
            costs[column] = cost
        program.col_cost_ = costs
        program.offset_ = self.offset
        program.sense_ = (highspy.ObjSense.kMinimize if self.model.sense == GRB.MINIMIZE
                          else highspy.ObjSense.kMaximize)
        program.col_lower_ = numpy.array([variable.low for variable in variables] + [0.0] * products)
        program.col_upper_ = numpy.array([variable.high for variable in variables] + [1.0] * products)
        program.integrality_ = [
            highspy.HighsVarType.kContinuous if variable.kind == GRB.CONTINUOUS else highspy.HighsVarType.kInteger
            for variable in variables] + [highspy.HighsVarType.kContinuous] * products
        program.row_lower_ = numpy.array([low for _, low, _ in self.rows])
        program.row_upper_ = numpy.array([high for _, _, high in self.rows])
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = numpy.cumsum([0] + [len(row) for row, _, _ in self.rows])
        program.a_matrix_.index_ = numpy.array([column for row, _, _ in self.rows for column in row])
        program.a_matrix_.value_ = numpy.array([value for row, _, _ in self.rows for value in row.values()],
                                               dtype=float)
        return program

    def solve(self):
        solver = highspy.Highs()
        for name, value in OPTIONS.items():
            solver.setOptionValue(name, value)
        solver.passModel(self.program())
        solver.run()
        info = solver.getInfo()
        self.is_optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        self.gap, self.objective = info.mip_gap, info.objective_function_value
        if not math.isfinite(self.objective) or info.primal_solution_status != 2:
            raise RuntimeError(f"no solution: {solver.modelStatusToString(solver.getModelStatus())}")
        return solver.getSolution().col_value
