import { isUtf8 } from 'node:buffer';
import { HttpError } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';

/** Bytes of the longest form that names a mistake. */
export const LONGEST_FORM = 4096;

const TYPE = /^application\/x-www-form-urlencoded(?:[\t ]*;[\t ]*charset="?utf-8"?)?$/i;

/** A form as it was received. */
export interface Form {
  readonly type: string | undefined;
  readonly content: Buffer;
}

/**
 * Reads the one field of a form; empty if it is missing. Throws `HttpError` 415 for another media type, and `BadRequest`
 * for a field that comes twice and one that is not of the page.
 */
export function readField({ type, content }: Form, name: string): string {
  if (!TYPE.test(type ?? '')) {
    throw new HttpError(415, 'Send a form: application/x-www-form-urlencoded, in UTF-8.');
  }
  if (!isUtf8(content)) throw new BadRequest('The form is not UTF-8.');
  const form = new URLSearchParams(content.toString());
  if (form.size > 1 || (form.size === 1 && !form.has(name))) {
    throw new BadRequest(`The form has one field, ${name}, once.`);
  }
  return form.get(name) ?? '';
}

/**
 * Reads the name of a mistake, or undefined if there is none. Throws as `readField`, and `BadRequest` for a value that is
 * none of `mistakes`. So nothing that a visitor writes gets into a message.
 */
export function readMistake(
  form: Form,
  mistakes: Readonly<Record<string, unknown>>,
): string | undefined {
  const value = readField(form, 'mistake');
  if (value === '') return undefined;
  if (!Object.hasOwn(mistakes, value)) throw new BadRequest('The form names no mistake of here.');
  return value;
}
