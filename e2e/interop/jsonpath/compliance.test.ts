import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { evaluateQuery } from '../../../resource-server/resources/query/evaluate.ts';
import { startPair } from '../../pair/pair.ts';
import type { Pair } from '../../pair/pair.ts';
import suite from './rfc9535-compliance.json' with { type: 'json' };

/**
 * The compliance suite of RFC 9535: the query evaluator runs all cases, and one case in 36 is also sent as
 * a QUERY to a real process.
 */
interface Case {
  readonly name: string;
  readonly selector: string;
  readonly invalid_selector?: boolean;
  readonly document?: unknown;
  readonly result?: unknown;
  /** All allowed results, if the order of members is free. */
  readonly results?: readonly unknown[];
}

const CASES: readonly Case[] = suite.tests;

const parts = new AsyncDisposableStack();
let pair: Pair;
let authorization: string;
beforeAll(async () => {
  pair = parts.use(await startPair());
  authorization = `Bearer ${await pair.token(await pair.addClient())}`;
});
afterAll(async () => parts.disposeAsync());

function send(method: string, type: string, content: string): Promise<Response> {
  return fetch(`${pair.documents}case.json`, {
    method,
    headers: { Authorization: authorization, 'Content-Type': type },
    body: content,
  });
}

test('the suite has 703 cases', () => {
  expect(CASES).toHaveLength(703);
});

/** Throws `HttpError` 422 for an invalid query. */
function evaluated({ selector, document = null }: Case): unknown {
  const query = { type: 'application/jsonpath', text: selector };
  const content = Buffer.from(JSON.stringify(document));
  return JSON.parse(evaluateQuery({ query, content, as: 'application/json' }).toString());
}

test.each(CASES)('$name', (one) => {
  if (one.invalid_selector) {
    expect(() => evaluated(one)).toThrow(expect.objectContaining({ status: 422 }));
    return;
  }
  expect(one.results ?? [one.result]).toContainEqual(evaluated(one));
});

const SOME = CASES.filter((_, index) => index % 36 === 0);

test('twenty cases are sent over HTTP, including invalid queries', () => {
  expect(SOME).toHaveLength(20);
  expect(new Set(SOME.map((one) => one.invalid_selector === true)).size).toBe(2);
});

test.each(SOME)('over HTTP: $name', async (one) => {
  const { ok } = await send('PUT', 'application/json', JSON.stringify(one.document ?? null));
  expect(ok).toBe(true);
  const response = await send('QUERY', 'application/jsonpath', one.selector);
  if (one.invalid_selector) {
    expect(response.status).toBe(422);
    return;
  }
  expect(response.status).toBe(200);
  expect(one.results ?? [one.result]).toContainEqual(await response.json());
});
