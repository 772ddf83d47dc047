import { describe, expect, test } from '@jest/globals';
import { answering, BEHIND_OTHERS, BROKEN } from '#shared/base/broken-answers.fixture.ts';
import { fetchText } from './fetch-text.ts';

describe('RFC 9110 section 15.2', () => {
  test.each(Object.entries(BEHIND_OTHERS))('an answer behind %s is taken', async (_, answer) => {
    await using server = await answering(answer);
    expect(await fetchText(fetch, server.url)).toBe('{}');
  });
});

test.each(Object.entries(BROKEN))(
  'an answer with %s is a mistake that names the server',
  async (_, [answer, says]) => {
    await using server = await answering(answer);
    const failing = fetchText(fetch, server.url, { signal: AbortSignal.timeout(300) });
    await expect(failing).rejects.toThrow(`no answer from ${server.url}`);
    await expect(failing).rejects.toThrow(says);
  },
);
