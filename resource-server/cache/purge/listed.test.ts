import { expect, test } from '@jest/globals';
import { type AuthRequest, ORIGIN } from '#shared/auth/scheme.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { authRequest } from '#shared/server/endpoints/auth-request.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { isListed } from './listed.ts';

const PROXIES = trustedProxies(['10.0.0.1']);
const NETWORKS = trustedProxies(['192.0.2.0/24', '10.0.0.0/24', '2001:db8::/32']);
const ASKED = { method: 'PURGE', target: '/app/', origin: 'https://api.example' };

function from(address: string, fields: Readonly<Record<string, string>> = {}): AuthRequest {
  const rawHeaders = Object.entries(fields).flat();
  const request = { socket: { remoteAddress: address }, rawHeaders, headers: {} };
  const recipient = { at: ORIGIN, proxies: PROXIES, local: false };
  return authRequest(request as unknown as AnyRequest, ASKED, recipient);
}

const forwarded = (value: string) => ({ 'X-Forwarded-For': value });

test.each<[string, AuthRequest, boolean]>([
  ['a client in a listed network', from('192.0.2.7'), true],
  ['a client in a listed IPv6 network', from('2001:db8::7'), true],
  ['a client in a listed network, as an IPv4-mapped address', from('::ffff:192.0.2.7'), true],
  ['a client in no listed network', from('198.51.100.7'), false],
  [
    'a client in no listed network with a forged forwarding field',
    from('198.51.100.7', forwarded('192.0.2.7')),
    false,
  ],
  ['a listed client behind a trusted proxy', from('10.0.0.1', forwarded('192.0.2.7')), true],
  [
    'an unlisted client behind a trusted proxy',
    from('10.0.0.1', forwarded('192.0.2.7, 198.51.100.7')),
    false,
  ],
  ['a trusted proxy that tells nothing', from('10.0.0.1'), false],
  ['a trusted proxy that tells nonsense', from('10.0.0.1', forwarded('unknown')), false],
  ['a listed neighbour of the proxy', from('10.0.0.2'), true],
  ['no address', from(''), false],
  ['a page of this origin', from('192.0.2.7', { Origin: ASKED.origin }), true],
  ['a page of another origin', from('192.0.2.7', { Origin: 'https://evil.example' }), false],
  ['a page of no origin', from('192.0.2.7', { Origin: 'null' }), false],
  ['a page of another site', from('192.0.2.7', { 'Sec-Fetch-Site': 'cross-site' }), false],
])('whether a request is on the list of PURGE: %s', (_, request, listed) => {
  expect(isListed(NETWORKS, request, PROXIES)).toBe(listed);
});
