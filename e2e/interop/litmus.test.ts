import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ONE_STORE } from '../flows/flow.ts';
import { litmus } from './litmus.ts';
import { ALICE, JASON, startSite } from './site.ts';
import type { Site } from './site.ts';

const ALL = {
  basic: [16, 16],
  copymove: [13, 13],
  props: [30, 30],
  locks: [41, 41],
  http: [4, 4],
};

describe.each(ONE_STORE)('litmus at /dav/, on %s', (kind) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite(kind);
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  test('RFC 4918: passes 104 of 104 tests with Digest, without a warning', async () => {
    const url = `${site.pair.resource}/dav/`;
    expect(await litmus(url, ALICE.name, ALICE.password)).toEqual({ suites: ALL, remarks: [] });
  });

  test('passes the same tests over TLS, except one test that litmus skips there', async () => {
    const url = `${site.pair.resourceTls}/dav/`;
    expect(await litmus(url, ALICE.name, ALICE.password)).toEqual({
      suites: { ...ALL, http: [3, 3] },
      remarks: [expect.stringMatching(/expect100\.+ SKIPPED \(skipping for SSL server\)$/)],
    });
  });

  test("gets no access with another person's password", async () => {
    const { suites, remarks } = await litmus(
      `${site.pair.resource}/dav/`,
      ALICE.name,
      JASON.password,
    );
    expect(suites['basic']).toEqual([2, 1]);
    expect(remarks[0]).toMatch(/begin\.+ FAIL .*rejected Digest challenge/);
  });
});
