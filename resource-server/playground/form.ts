import { isUtf8 } from 'node:buffer';
import { HttpError } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';

/** Bytes of the longest form. */
export const LONGEST_FORM = 4096;

const TYPE = /^application\/x-www-form-urlencoded(?:[\t ]*;[\t ]*charset="?utf-8"?)?$/i;

/**
 * Reads the form of a page: the name of a mistake, or undefined if it is empty. Throws `HttpError` 415 for another media
 * type, and `BadRequest` for a field that comes twice, one that is not of the page, and a value that is none of
 * `mistakes`. So nothing that a visitor writes gets into a message.
 */
export function readMistake(
  type: string | undefined,
  content: Buffer,
  mistakes: Readonly<Record<string, unknown>>,
): string | undefined {
  if (!TYPE.test(type ?? '')) {
    throw new HttpError(415, 'Send a form: application/x-www-form-urlencoded, in UTF-8.');
  }
  if (!isUtf8(content)) throw new BadRequest('The form is not UTF-8.');
  const form = new URLSearchParams(content.toString());
  const value = form.get('mistake') ?? '';
  if (form.size > 1 || (form.size === 1 && !form.has('mistake'))) {
    throw new BadRequest('The form has one field, mistake, once.');
  }
  if (value === '') return undefined;
  if (!Object.hasOwn(mistakes, value)) throw new BadRequest('The form names no mistake of here.');
  return value;
}
