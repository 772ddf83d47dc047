import http from 'node:http';
import type { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The address of one client of a crowd, each in another network of 24 bits. */
export const addressOf = (n: number) => `127.9.${1 + n}.1`;

/** The request of the sign-in form that the browser gets at the account page, filled in. */
export async function filledIn(
  browser: TestBrowser,
  { name, password }: { readonly name: string; readonly password: string },
): Promise<Asked> {
  const { forms } = await browser.open('/account');
  const [form] = forms;
  if (form === undefined) throw new Error('there is no form');
  const cookies = browser.cookies.map((cookie) => `${cookie.name}=${cookie.value}`);
  return {
    method: 'POST',
    path: form.action,
    headers: {
      origin: browser.issuer,
      cookie: cookies.join('; '),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ ...Object.fromEntries(form.fields), name, password }).toString(),
  };
}

/**
 * Sends a request from an address of the loopback network. Resolves to its status, or to 0 without an
 * answer.
 */
export function askFrom(origin: string, localAddress: string, asked: Asked): Promise<number> {
  const { method, path, headers, body } = asked;
  const { promise, resolve } = Promise.withResolvers<number>();
  http
    .request(origin + path, { method, headers, localAddress, agent: false })
    .once('error', () => resolve(0))
    .once('response', (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    })
    .end(body);
  return promise;
}
