import type { Clock } from '#shared/base/clock.ts';
import type { Config } from '#shared/config/schema.ts';
import { notFound } from '#shared/http/answer.ts';
import { type Endpoint, READ } from './endpoint.ts';

export const SECURITY_TXT = '/.well-known/security.txt';

/**
 * Returns the file of a server at these origins (RFC 9116), or 404 after it has expired. Returns undefined if the
 * file is not configured.
 */
export function securityTxt(
  { security }: Pick<Config, 'security'>,
  origins: readonly string[],
  clock: Pick<Clock, 'now'>,
): readonly (readonly [path: string, endpoint: Endpoint])[] {
  if (security === undefined) return [];
  const { contacts, expires, policy } = security;
  const lines = [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires}`,
    // A reader trusts the file only at an address that it names (section 2.5.2).
    ...origins.map((origin) => `Canonical: ${origin}${SECURITY_TXT}`),
    ...(policy === undefined ? [] : [`Policy: ${policy}`]),
  ];
  const answer = {
    status: 200,
    fields: { 'Content-Type': 'text/plain; charset=utf-8' },
    body: lines.map((line) => `${line}\n`).join(''),
  };
  const until = Date.parse(expires);
  return [
    [
      SECURITY_TXT,
      {
        methods: READ,
        answer() {
          if (clock.now() >= until) throw notFound();
          return answer;
        },
      },
    ],
  ];
}
