"""What the files of view tests share: the list of tests, and what they expect."""

tests = {}


def test(function):
    tests[function.__name__] = function
    return function


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def expect_equal(actual, expected, what):
    expect(actual == expected, f"{what}: expected {str(expected)[:400]}, but got {str(actual)[:400]}")
