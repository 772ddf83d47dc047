import { compileFilter } from './filter.ts';
import { compileJsonPath } from './jsonpath.ts';
import type { Select } from './select.ts';

/**
 * The media types of queries (in UTF-8), with the compiler of each. Compilers throw `BadRequest` and `HttpError`
 * 422.
 */
export const FORMATS: ReadonlyMap<string, (text: string, names?: readonly string[]) => Select> =
  new Map([
    ['application/jsonpath', compileJsonPath],
    ['application/x-www-form-urlencoded', compileFilter],
  ]);
