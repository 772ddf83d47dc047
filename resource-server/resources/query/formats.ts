import { compileFilter } from './filter.ts';
import { compileJsonPath } from './jsonpath.ts';
import type { Select } from './select.ts';

/** Media types of queries, in UTF-8, and how each is understood. Throws `BadRequest` and `HttpError` 422. */
export const FORMATS: ReadonlyMap<string, (text: string) => Select> = new Map([
  ['application/jsonpath', compileJsonPath],
  ['application/x-www-form-urlencoded', compileFilter],
]);
