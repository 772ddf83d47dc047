import { describe, expect, test } from '@jest/globals';
import { answering, BEHIND_OTHERS, BROKEN } from '#shared/base/broken-answers.fixture.ts';
import { fetchText } from './fetch-text.ts';

describe('RFC 9110 section 15.2', () => {
  test.each(Object.entries(BEHIND_OTHERS))(
    'an answer that follows %s is accepted',
    async (_, answer) => {
      await using server = await answering(answer);
      expect(await fetchText(fetch, server.url)).toBe('{}');
    },
  );
});

test.each(Object.entries(BROKEN))(
  'an answer with %s is a mistake that names the server',
  async (_, [answer, says]) => {
    await using server = await answering(answer);
    // Answers that only the time limit ends get a short limit; all others end by themselves.
    const signal = AbortSignal.timeout(says === 'timeout' ? 300 : 60_000);
    const failing = fetchText(fetch, server.url, { signal });
    await expect(failing).rejects.toThrow(`no answer from ${server.url}`);
    await expect(failing).rejects.toThrow(says);
  },
);
