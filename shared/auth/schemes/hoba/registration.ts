import { isUtf8 } from 'node:buffer';
import { HttpError, unprocessable } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { isVisibleName } from '#shared/people/names/visible-name.ts';
import type { KeptKey } from '#shared/jose/key-fingerprint.ts';
import { PublicKeyError, readPublicKey } from '#shared/people/public-key.ts';
import { unpadded } from './result.ts';

/** A registration (RFC 7486 section 6.1), with the secret of the link that allows it. */
export interface Registration extends KeptKey {
  /** `did`: the person's name for the device. */
  readonly name: string;
  readonly secret: string;
}

const FORM = /^application\/x-www-form-urlencoded[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i;

/** Matches a secret as `randomId` makes it. */
const SECRET = /^[\w-]{22}$/;

/**
 * Most characters of `pub`. The longest accepted key has half as many. The limit exists because Node is slow to read
 * a key with a long exponent.
 */
const LONGEST_KEY = 4096;

/** Most octets of a form: three for each character of the longest key, and space for the remaining fields. */
const LONGEST_FORM = 16_384;

/** Parses a registration. Throws `HttpError` and `BadRequest`. */
export function parseRegistration(type: string | undefined, content: Buffer): Registration {
  const form = parseForm(type, content);
  const secret = form.get('secret') ?? '';
  if (!SECRET.test(secret)) throw notInvited();
  for (const kind of ['kidtype', 'didtype']) {
    if ((form.get(kind) ?? '0') !== '0') throw unprocessable(`${kind} has to be 0.`);
  }
  const key = readKey(form.get('pub') ?? '');
  const kid = form.get('kid');
  if (kid !== null && unpadded(kid) !== key.id) {
    throw unprocessable('kid has to be the SHA-256 of the key (its SubjectPublicKeyInfo in DER).');
  }
  const name = form.get('did') ?? 'A device';
  if (!isVisibleName(name)) throw unprocessable('did has to be a name of 1 to 100 characters.');
  return { ...key, name, secret };
}

/** Returns the error for a secret that is not valid, whatever the reason. */
export function notInvited(): HttpError {
  return new HttpError(
    403,
    'A key is registered with a link of the account page, once and within ten minutes.',
  );
}

function readKey(pub: string): KeptKey {
  if (pub.length > LONGEST_KEY) throw unprocessable(`pub has at most ${LONGEST_KEY} characters.`);
  try {
    return readPublicKey(Buffer.from(pub), 'HOBA');
  } catch (error) {
    if (error instanceof PublicKeyError) throw unprocessable(`pub ${error.message}.`);
    throw error;
  }
}

function parseForm(type = '', content: Buffer): URLSearchParams {
  if (!FORM.test(type)) {
    throw new HttpError(415, 'Send a form: application/x-www-form-urlencoded, in UTF-8.');
  }
  if (content.length > LONGEST_FORM) {
    throw new HttpError(413, `The form has at most ${LONGEST_FORM} bytes.`);
  }
  if (!isUtf8(content)) throw new BadRequest('The form is not UTF-8.');
  const form = new URLSearchParams(content.toString());
  if (new Set(form.keys()).size < form.size) {
    throw new BadRequest('A field of the form is repeated.');
  }
  return form;
}
