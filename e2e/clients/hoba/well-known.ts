/** The requests below `/.well-known/hoba` (RFC 7486 section 6). `base` is an origin, or empty. */
import type { Field, HttpRequest, HttpResponse } from '../digest/exchange.ts';
import { valuesOf } from '../digest/exchange.ts';
import { BASE64URL_CHARS } from './hoba-client.ts';
import { HASHED, pemOf } from './keys.ts';
import type { HobaKey } from './keys.ts';

type Form = readonly (readonly [name: string, value: string])[];

export interface Registration {
  readonly key: HobaKey;
  /** The person's name for the device. */
  readonly did?: string;
  /** Further fields that the server requires, such as a secret for one use. The RFC has none. */
  readonly more?: Form;
  readonly tamper?: (form: Form) => Form;
}

const BASE = '/.well-known/hoba';

/**
 * The registration request (section 6.1). An additional signature (`signed`) is allowed, but does not cover
 * the form.
 */
export function register(base: string, registration: Registration): HttpRequest {
  const { key, did, more = [], tamper } = registration;
  const form: Form = [
    ['pub', pemOf(key)],
    ['kidtype', HASHED],
    ['kid', key.kid],
    ...(did === undefined
      ? []
      : ([
          ['didtype', '0'],
          ['did', did],
        ] as const)),
    ...more,
  ];
  const sent = new URLSearchParams((tamper?.(form) ?? form).map(([...pair]) => pair));
  const content = Buffer.from(sent.toString());
  return post(`${base}${BASE}/register`, content, [
    ['Content-Type', 'application/x-www-form-urlencoded'],
  ]);
}

/** The states of a registration (section 6.1.1). */
export type RegistrationState = 'regok' | 'reginwork' | 'failed';

/** The state of a registration; `undefined` if the server does not send one. */
export function registrationIn(response: HttpResponse): RegistrationState | undefined {
  const { status, fields, trailers } = response;
  if (status >= 400) return 'failed';
  const values = valuesOf([...fields, ...trailers], 'Hobareg');
  if (values.length === 0) return undefined;
  const ok = status < 300 && values.length === 1 && values[0]?.toLowerCase() === 'regok';
  return ok ? 'regok' : 'reginwork';
}

/** The request for a challenge (section 6.4). */
export function getChallenge(base: string): HttpRequest {
  return post(`${base}${BASE}/getchal`);
}

/** The challenge in the answer of getchal. It has neither realm nor max-age. */
export function challengeIn({ status, content }: HttpResponse): string {
  const challenge = content.toString('latin1').replaceAll(/\s/g, '');
  if (status !== 200 || !BASE64URL_CHARS.test(challenge)) {
    throw new SyntaxError(`${status} ${challenge}`);
  }
  return challenge;
}

/** The sign-out request (section 6.3), to be sent `signed` or through `hobaClient`. */
export function logout(base: string): HttpRequest {
  return post(`${base}${BASE}/logout`);
}

function post(
  target: string,
  content = Buffer.alloc(0),
  fields: readonly Field[] = [],
): HttpRequest {
  const length: Field = ['Content-Length', String(content.length)];
  return { method: 'POST', target, fields: [length, ...fields], content };
}
