import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startPair } from '../../pair/pair.ts';
import type { Pair } from '../../pair/pair.ts';
import suite from './rfc9535-compliance.json' with { type: 'json' };

/** The compliance suite of RFC 9535, each test as a document and a QUERY of it at a real process. */
interface Case {
  readonly name: string;
  readonly selector: string;
  readonly invalid_selector?: boolean;
  readonly document?: unknown;
  readonly result?: unknown;
  /** All that are right, where members have no order. */
  readonly results?: readonly unknown[];
}

const CASES: readonly Case[] = suite.tests;

const parts = new AsyncDisposableStack();
let pair: Pair;
let authorization: string;
beforeAll(async () => {
  pair = parts.use(await startPair());
  authorization = `Bearer ${await pair.token(await pair.addClient())}`;
}, 60_000);
afterAll(async () => parts.disposeAsync());

function send(method: string, type: string, content: string): Promise<Response> {
  return fetch(`${pair.documents}case.json`, {
    method,
    headers: { Authorization: authorization, 'Content-Type': type },
    body: content,
  });
}

/** The documents are few, and come in runs. */
let stored: string | undefined;
async function store({ document = null }: Case): Promise<void> {
  const content = JSON.stringify(document);
  if (content === stored) return;
  const { ok } = await send('PUT', 'application/json', content);
  expect(ok).toBe(true);
  stored = content;
}

test('has its 703 cases', () => {
  expect(CASES).toHaveLength(703);
});

test.each(CASES)('$name', async (one) => {
  await store(one);
  const response = await send('QUERY', 'application/jsonpath', one.selector);
  if (one.invalid_selector) {
    expect(response.status).toBe(422);
    return;
  }
  expect(response.status).toBe(200);
  expect(one.results ?? [one.result]).toContainEqual(await response.json());
});
