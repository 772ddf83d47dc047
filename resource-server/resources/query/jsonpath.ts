import { type FilterFunction, type JSONValue, JSONPathEnvironment, jsonpath } from 'json-p3';
import { HttpError } from '#shared/http/answer.ts';
import type { Select } from './select.ts';

/** How many levels `..` descends: each takes stack. */
const MAX_DEPTH = 500;

const { Search } = jsonpath.functions;

/**
 * A `match()` that conforms to RFC 9535 section 2.4.6: a whole string must match.
 * The library does not anchor a pattern that begins with `^` or ends with `$`, and converts numbers to strings. A
 * pattern that is not an I-Regexp (RFC 9485) matches nothing, so the added anchors cannot make an invalid pattern
 * valid.
 */
class Match extends Search implements FilterFunction {
  override call(value: string, pattern: string): boolean {
    return super.call(value, pattern) && super.call(value, `^(${pattern})$`);
  }
}

const environment = new JSONPathEnvironment({ maxRecursionDepth: MAX_DEPTH });
environment.functionRegister.set('match', new Match());

/**
 * Compiles a JSONPath expression (RFC 9535), which selects the values of its nodes. Throws `HttpError` 422 if it
 * is malformed or ill-typed, `RangeError` if it is nested too deep.
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

/** Maps errors of the library about the expression to 422, but not `RangeError`, which is about the stack. */
function orUnprocessable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError || !(error instanceof Error)) throw error;
    const what = 'This JSONPath expression cannot be evaluated';
    throw Object.assign(new HttpError(422, `${what}: ${error.message}`), { reason: what });
  }
}
