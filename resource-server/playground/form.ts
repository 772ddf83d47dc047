import { isUtf8 } from 'node:buffer';
import { HttpError } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import type { Exchange } from './exchange.ts';

/** Bytes of the longest form of an exchange. */
export const LONGEST_FORM = 4096;

const TYPE = /^application\/x-www-form-urlencoded(?:[\t ]*;[\t ]*charset="?utf-8"?)?$/i;

/** A form as it was received. */
export interface Form {
  readonly type: string | undefined;
  readonly content: Buffer;
}

/**
 * Reads the fields of a form. Throws `HttpError` 415 for another media type, and `BadRequest` for a repeated field or
 * one that the page does not have.
 */
function readFields({ type, content }: Form, names: readonly string[]): URLSearchParams {
  if (!TYPE.test(type ?? '')) {
    throw new HttpError(415, 'Send a form: application/x-www-form-urlencoded, in UTF-8.');
  }
  if (!isUtf8(content)) throw new BadRequest('The form is not UTF-8.');
  const form = new URLSearchParams(content.toString());
  if (form.size > names.filter((name) => form.has(name)).length) {
    throw new BadRequest(`The form may have only ${names.join(' and ')}, once.`);
  }
  return form;
}

/** Reads the single field of a form, empty if missing. Throws as `readFields`. */
export const readField = (form: Form, name: string): string =>
  readFields(form, [name]).get(name) ?? '';

/** The choice that a visitor made on the page. */
export interface Choice {
  /** The name of a mistake of the exchange. */
  readonly mistake: string | undefined;
  /** Whether the messages use HTTP/2. */
  readonly http2: boolean;
}

/** The value of the field `version` for HTTP/2. */
export const HTTP2 = '2';

/**
 * Reads the choice of a visitor. Throws as `readFields`, and `BadRequest` for a value that the page does not offer. So
 * no text of a visitor gets into a message.
 */
export function readChoice(
  form: Form,
  { mistakes, overTls }: Pick<Exchange, 'mistakes' | 'overTls'>,
): Choice {
  const fields = readFields(form, overTls ? ['mistake', 'version'] : ['mistake']);
  const [mistake, version] = ['mistake', 'version'].map((name) => fields.get(name) || undefined);
  if (mistake !== undefined && !Object.hasOwn(mistakes, mistake)) {
    throw new BadRequest('The form names an unknown mistake.');
  }
  if (version !== undefined && version !== HTTP2) {
    throw new BadRequest('The form names a version of HTTP that this page does not offer.');
  }
  return { mistake, http2: version === HTTP2 };
}
