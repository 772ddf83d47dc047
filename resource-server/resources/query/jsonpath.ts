import { type FilterFunction, type JSONValue, JSONPathEnvironment, jsonpath } from 'json-p3';
import { HttpError } from '#shared/http/answer.ts';
import type { Select } from './select.ts';

/** Levels that `..` goes down: each costs stack. */
const MAX_DEPTH = 500;

const { Search } = jsonpath.functions;

/**
 * `match()` of the library leaves a pattern as it is that begins with `^` or ends with `$`, and takes a
 * number for its digits. RFC 9535 section 2.4.6 wants a string, and all of it. A pattern that is no
 * I-Regexp (RFC 9485) is found nowhere, so what is put around one cannot make it one.
 */
class Match extends Search implements FilterFunction {
  override call(value: string, pattern: string): boolean {
    return super.call(value, pattern) && super.call(value, `^(${pattern})$`);
  }
}

const environment = new JSONPathEnvironment({ maxRecursionDepth: MAX_DEPTH });
environment.functionRegister.set('match', new Match());

/**
 * A JSONPath expression (RFC 9535): selects the values of its nodes. Throws `HttpError` 422 when it is
 * none or ill-typed, `RangeError` when it is nested too deep.
 */
export function compileJsonPath(text: string): Select {
  const query = orUnprocessable(() => environment.compile(text));
  return function* select(value) {
    const nodes = query.lazyQuery(value as JSONValue);
    for (;;) {
      const next = orUnprocessable(() => nodes.next());
      if (next.done) return;
      yield next.value.value;
    }
  };
}

/** What the library throws is about the expression; `RangeError` is about the stack. */
function orUnprocessable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError || !(error instanceof Error)) throw error;
    const what = 'This JSONPath expression cannot be evaluated';
    throw Object.assign(new HttpError(422, `${what}: ${error.message}`), { reason: what });
  }
}
