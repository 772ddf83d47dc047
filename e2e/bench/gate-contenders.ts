import type { Server } from './cpu.ts';
import { digestLoad } from './digest-load.ts';
import { basic, DOCUMENT, type Gate } from './gate.ts';
import type { HttpContender } from './http-load.ts';
import { always, type HttpRequest, type Load } from './requests.ts';
import { BODY, type Fields } from './site.ts';

export const at = (path: string, fields: Fields): HttpRequest => ({ method: 'GET', path, fields });

/** A contender that must answer with the file, and with 401 to the other credentials. */
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

/** One person's password, repeatedly. */
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

/** One API key, repeatedly. */
export function byKey(name: string, server: Server, { key }: Gate, path = DOCUMENT): HttpContender {
  const field = (value: string): Fields => ({ 'X-API-Key': value });
  return reader(name, server, always(at(path, field(key))), () => at(path, field(`${key}0`)));
}

export interface Responses {
  readonly algorithm: 'MD5' | 'SHA-256';
  /** The number of clients that send in rotation. */
  readonly clients: number;
  /** Responses made per second of a run, more than the server checks. */
  readonly perSecond: number;
  readonly path?: string;
}

/** A new Digest response for each request. */
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
