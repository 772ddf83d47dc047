import type { Server } from './cpu.ts';
import { digestLoad } from './digest-load.ts';
import { basic, DOCUMENT, type Gate } from './gate.ts';
import type { HttpContender } from './http-load.ts';
import { always, type HttpRequest, type Load } from './requests.ts';
import { BODY, type Fields } from './site.ts';

export const at = (path: string, fields: Fields): HttpRequest => ({ method: 'GET', path, fields });

/** Has to answer with the file, and 401 to these other credentials. */
export const reader = (
  name: string,
  server: Server,
  load: Load,
  forged: NonNullable<HttpContender['forged']>,
): HttpContender => ({
  name,
  server,
  load,
  answer: { status: 200, body: (text) => text === BODY },
  forged,
});

/** One person's password again and again. */
export function byPassword(
  name: string,
  server: Server,
  { person }: Gate,
  path = DOCUMENT,
): HttpContender {
  const right = at(path, basic(person.name, person.password));
  const wrong = at(path, basic(person.name, `${person.password}!`));
  return reader(name, server, always(right), () => wrong);
}

/** One key again and again. */
export function byKey(name: string, server: Server, { key }: Gate, path = DOCUMENT): HttpContender {
  const field = (value: string): Fields => ({ 'X-API-Key': value });
  return reader(name, server, always(at(path, field(key))), () => at(path, field(`${key}0`)));
}

export interface Responses {
  readonly algorithm: 'MD5' | 'SHA-256';
  /** How many clients take turns. */
  readonly clients: number;
  /** How many are made for each second of a run: more than the server checks. */
  readonly perSecond: number;
  readonly path?: string;
}

/** A new response for each request. */
export function byDigest(
  name: string,
  server: Server,
  { person: { name: username, password } }: Gate,
  { path = DOCUMENT, ...responses }: Responses,
): HttpContender {
  const { url } = server;
  const load = digestLoad({ url, path, username, password, ...responses });
  return reader(name, server, load, load.forged);
}
