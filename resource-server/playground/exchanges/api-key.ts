import { shellWord } from '#shared/base/shell-word.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import type { Step } from '#shared/explain/checks.ts';
import { API_KEY_STEPS } from '#shared/explain/schemes/api-key.ts';
import { ofScheme } from '../checks/told.ts';
import type { Exchange } from '../exchange.ts';
import type { FieldLine } from '../http1-message.ts';

const lineOf = (key: string): FieldLine => ['X-API-Key', key];

const ONCE_STEP: Step = {
  name: 'once',
  check: 'The request has the field once.',
  section: 'RFC 9110 section 5.3',
  refusals: ['bad-request'],
};

/**
 * The exchange with an API key, for which no standard exists. Its rate limit fields follow
 * draft-ietf-httpapi-ratelimit-headers-11.
 */
export const apiKeyExchange: Exchange = {
  name: 'api-key',
  title: 'API key',
  about:
    'An application sends a key in a field of its own. No standard describes API keys, and there is no challenge. Anybody who reads one request has the key.',
  standard: 'draft-ietf-httpapi-ratelimit-headers-11 (the limits)',
  document: 'how-to/schemes/api-key.md',
  // All visitors share the one key, so visitors are limited by address instead (`playgroundAttempts`).
  space: { schemes: ['API-Key'], apiKey: { limit: { burst: 10_000, per: 0.001 } } },
  command: (url, { apiKey }) =>
    `curl -si -H ${shellWord(`X-API-Key: ${apiKey}`)} ${shellWord(url)}`,
  mistakes: {
    mistyped: 'A key with a typing mistake',
    unknown: 'A key that does not exist',
    twice: 'Two keys',
  },
  checks: ofScheme(() => [ONCE_STEP, ...API_KEY_STEPS]),
  async perform({ send, remark, target, mistake, apiKey, random }) {
    const request = { method: 'GET', target, fields: [] };
    await send('The client asks without a key', request);
    remark(
      'The answer is 403, since a 401 has to name a scheme in WWW-Authenticate. API keys have no scheme (RFC 9110 section 15.5.2).',
    );
    const sent: Readonly<Record<string, readonly string[]>> = {
      right: [apiKey],
      mistyped: [`${apiKey.slice(0, -1)}${apiKey.endsWith('0') ? '1' : '0'}`],
      unknown: [newApiKey(random).key],
      twice: [apiKey, apiKey],
    };
    const keys = sent[mistake ?? 'right'] ?? [];
    await send('The client sends its key, and learns how many requests are left', {
      ...request,
      fields: keys.map(lineOf),
    });
  },
};
