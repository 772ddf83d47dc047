/** @slow */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { describe, expect, test } from '@jest/globals';
import { HttpError } from '#shared/http/answer.ts';
import { Evaluator, QUERY_LIMITS } from './evaluator.ts';
import { FORMATS } from './formats.ts';

const evaluator = new Evaluator();
/** An evaluator with a short time limit. */
const hasty = new Evaluator({ ...QUERY_LIMITS, query: 200 });

const task = (text: string, content: string | Buffer, type = 'application/jsonpath') => ({
  query: { type, text },
  content: Buffer.from(content),
  as: 'application/json' as const,
});

async function evaluate(text: string, content: string | Buffer, by = evaluator): Promise<string> {
  return String(await by.evaluate(task(text, content)));
}

/** A pattern that tries all ways to divide a word, and such a word. */
const EVIL = `$[?match(@, '(a+)+b')]`;
const A_60 = JSON.stringify(['a'.repeat(60)]);

const tooCostly = expect.objectContaining({
  status: 422,
  message: expect.stringContaining('costs too much'),
});

describe('RFC 10008 section 2: a query that costs too much is 422', () => {
  test.each([
    ['nested repetition', EVIL, A_60],
    ['nested repetition, searched', `$[?search(@, '(a|a)*c')]`, A_60],
    [
      'nested filters',
      '$[?count($[?count($[?count($[?@ > 0]) > 0]) > 0]) > 0]',
      JSON.stringify(Array.from({ length: 500 }, (_, index) => index)),
    ],
    ['descendants of descendants', '$..*..*..*..*..[?@.a]', nested(200)],
  ])('a query with %s is 422, and the evaluator works on', async (_, text, content) => {
    await expect(evaluate(text, content, hasty)).rejects.toEqual(tooCostly);
    expect(await evaluate('$.a', '{"a":1}', hasty)).toBe('[1]');
  });

  test.each([
    ['more nodes than memory', '$..*', `[${'[],'.repeat(5_000_000)}[]]`],
    ['levels without end', '$', '['.repeat(8_000_000)],
  ])('a query with %s is 422, and the next query works', async (_, text, content) => {
    await expect(evaluate(text, content)).rejects.toEqual(expect.objectContaining({ status: 422 }));
    expect(await evaluate('$.a', '{"a":1}')).toBe('[1]');
  });

  test('a slow query does not block the event loop', async () => {
    const evaluating = evaluate(EVIL, A_60, hasty);
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 1);
    await expect(evaluating).rejects.toEqual(tooCostly);
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(10);
  });

  test('the process survives if it could interrupt the query itself', async () => {
    await evaluate('$', '1', hasty);
    const { pid } = hasty;
    await expect(evaluate(EVIL, A_60, hasty)).rejects.toEqual(tooCostly);
    expect(hasty.pid).toBe(pid);
  });

  test('an unresponsive process is replaced', async () => {
    const limits = { ...QUERY_LIMITS, evaluation: 60_000 };
    const impatient = new Evaluator(limits);
    await evaluate('$', '1', impatient);
    const { pid = 0 } = impatient;
    process.kill(pid, 'SIGSTOP');
    limits.evaluation = 100;
    await expect(evaluate('$', '1', impatient)).rejects.toEqual(tooCostly);
    expect(impatient.pid).toBeUndefined();
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test('a process that was killed while idle is replaced', async () => {
    await evaluate('$', '1');
    const { pid = 0 } = evaluator;
    process.kill(pid, 'SIGKILL');
    while (evaluator.pid === pid) await sleep(1);
    expect(await evaluate('$.a', '{"a":1}')).toBe('[1]');
  });

  test('a signal to the process group does not end the query process', async () => {
    await evaluate('$', '1');
    const { pid = 0 } = evaluator;
    process.kill(pid, 'SIGINT');
    process.kill(pid, 'SIGTERM');
    expect(await evaluate('$.a', '{"a":1}')).toBe('[1]');
    expect(evaluator.pid).toBe(pid);
  });
});

describe('a server that ends', () => {
  /** Starts a server that prints the id of its query process, and then runs `then`. */
  const start = (then: string) => {
    const module = new URL('evaluator.ts', import.meta.url).href;
    const script = `
      import { Evaluator } from ${JSON.stringify(module)};
      const evaluator = new Evaluator();
      const content = Buffer.from(JSON.stringify(['a'.repeat(60)]));
      const ask = (text) =>
        evaluator.evaluate({ query: { type: 'application/jsonpath', text }, content, as: 'application/json' });
      await ask('$');
      console.log(evaluator.pid);
      ${then}`;
    return spawn(process.execPath, ['--input-type=module', '-e', script]);
  };
  const isThere = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('a query process does not keep its server alive', async () => {
    const [code] = (await once(start(''), 'exit')) as [number];
    expect(code).toBe(0);
  });

  test('a server leaves no query process behind, even if it is killed during a query', async () => {
    const server = start(`await ask("$[?match(@, '(a+)+b')]")`);
    const [line] = (await once(server.stdout, 'data')) as [Buffer];
    const pid = Number(line);
    expect(isThere(pid)).toBe(true);
    server.kill('SIGKILL');
    while (isThere(pid)) await sleep(10);
  });
});

test('RFC 8259 section 8.1: content that is not JSON in UTF-8 is 422', async () => {
  for (const content of ['', '{', '[1,]', "'a'", 'NaN', Buffer.from([0x22, 0xff, 0x22])]) {
    await expect(evaluate('$', content)).rejects.toEqual(expect.objectContaining({ status: 422 }));
  }
  expect(await evaluate('$', '\ufeff{"a":1}')).toBe('[{"a":1}]');
});

test('a malformed form is 400, even if the content is not JSON', async () => {
  await expect(
    evaluator.evaluate(task('%', '{', 'application/x-www-form-urlencoded')),
  ).rejects.toEqual(expect.objectContaining({ status: 400 }));
});

test('a query of any text in any format has a result, or is refused', async () => {
  const word = fc.constantFrom(
    ...'$ .. * [ ] ? @ ( ) \' " ! && == .a 1 , match search count length value'.split(' '),
    ...'\\ % = & limit sort -'.split(' '),
  );
  const text = fc.oneof(anyText(), fc.string({ unit: word, maxLength: 30 }));
  const type = fc.constantFrom(...FORMATS.keys());
  await fc.assert(
    fc.asyncProperty(type, text, fc.json(), async (format, query, content) => {
      try {
        JSON.parse(String(await evaluator.evaluate(task(query, content, format))));
      } catch (error) {
        expect(error).toBeInstanceOf(HttpError);
        expect([400, 422]).toContain((error as HttpError).status);
      }
    }),
    { numRuns: 500 },
  );
});

function nested(levels: number): string {
  return `${'{"b":['.repeat(levels)}1${']}'.repeat(levels)}`;
}
