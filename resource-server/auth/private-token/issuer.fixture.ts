import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import {
  DIRECTORY_TYPE,
  type DirectoryKey,
  formatDirectory,
} from '#shared/private-token/issuer-directory.ts';
import { type Token, parseToken, tokenInput } from '#shared/private-token/token.ts';
import type { TokenKey } from '#shared/private-token/token-key.ts';
import { TOKEN_TYPES } from '#shared/private-token/token-types.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import { openSend } from '#shared/client/send.ts';

const CERTIFICATE = selfSigned(['localhost'], systemClock, systemRandom);

/** Trusts the certificates of this file's servers, with a shorter timeout than in production. */
export const trusting = (milliseconds?: number, at?: string) =>
  openSend({
    ca: CERTIFICATE.cert,
    ...(milliseconds !== undefined && { milliseconds }),
    ...(at !== undefined && { at }),
  });

export interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly content: Buffer;
}

export type Answers = (response: ServerResponse, asked: Asked) => void;

export interface TestIssuer extends AsyncDisposable {
  readonly origin: string;
  /** All requests so far. */
  readonly asked: Asked[];
  /** Sets the answers from now on. */
  answers: Answers;
  /** Closes all connections. */
  dropAll(): void;
}

/** Starts a loopback server for HTTPS, with HTTP/1.1 only. */
export async function startIssuer(answers: Answers, port = 0): Promise<TestIssuer> {
  const asked: Asked[] = [];
  const server = createServer(CERTIFICATE, (request, response) => {
    const { method, url, headers } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = { method, url, headers, content: Buffer.concat(chunks) };
      asked.push(one);
      issuer.answers(response, one);
    });
  });
  await new Promise<void>((listening) => server.listen(port, 'localhost', listening));
  const { port: bound } = server.address() as AddressInfo;
  const issuer: TestIssuer = {
    origin: `https://localhost:${bound}`,
    asked,
    answers,
    dropAll: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return issuer;
}

/** Answers with the directory of these keys. */
export function directoryOf(
  keys: readonly DirectoryKey[],
  cacheControl = 'max-age=600',
  requestUrl = '/private-token/request',
): Answers {
  return (response) => {
    response
      .setHeader('Content-Type', DIRECTORY_TYPE)
      .setHeader('Cache-Control', cacheControl)
      .end(formatDirectory({ requestUrl, keys }));
  };
}

export const json =
  (value: unknown, status = 200, fields: Readonly<Record<string, string>> = {}): Answers =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...fields });
    response.end(JSON.stringify(value));
  };

/** Faulty answers of an issuer. */
export const WRONG = {
  'says 404': (response) => void response.writeHead(404).end(),
  'says 500': (response) => void response.writeHead(500).end('{}'),
  'says 204': (response) => void response.writeHead(204).end(),
  'answers with a page': (response) =>
    void response.setHeader('Content-Type', 'text/html').end('<!doctype html>'),
  'ends the connection': (response) => void response.destroy(),
  'ends within the content': (response) => {
    response.setHeader('Content-Length', 100);
    response.write('{', () => response.destroy());
  },
} satisfies Readonly<Record<string, Answers>>;

/** Sends data endlessly, and reports when the client has closed the connection. */
export function endless(type: string): {
  readonly answers: Answers;
  readonly ended: Promise<void>;
} {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    ended: promise,
    answers(response) {
      const chunk = Buffer.alloc(16_384, ' ');
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more).on('close', resolve).setHeader('Content-Type', type);
      more();
    },
  };
}

/** Makes a token for a key, with this authenticator. */
export function tokenFor(key: TokenKey, authenticator?: Uint8Array): Token {
  const { authenticator: length } = TOKEN_TYPES[key.type];
  const input = tokenInput(key.type, systemRandom(32), systemRandom(32), key.id);
  const token = parseToken(Buffer.concat([input, authenticator ?? systemRandom(length)]));
  if (token === undefined) throw new Error('an authenticator of another length');
  return token;
}

type Line = LogFields & { readonly event: string };

/** A log that a test can read. */
export function readableLog(): { readonly log: Log; readonly lines: Line[] } {
  const lines: Line[] = [];
  const at = (event: string, fields?: LogFields) => void lines.push({ event, ...fields });
  return { log: { info: at, warn: at, error: at }, lines };
}
