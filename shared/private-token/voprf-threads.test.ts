/** @slow */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ALONE } from '#shared/base/line.ts';
import { systemRandom } from '#shared/base/random.ts';
import { HttpError } from '#shared/http/answer.ts';
import { evaluate } from './voprf.ts';
import { generateVoprfKey } from './voprf-key.ts';
import { blindVoprf } from './voprf-client.ts';
import { openVoprfThreads } from './voprf-threads.ts';

const { privateKey, publicKey } = generateVoprfKey();
const input = randomBytes(98);
const authenticator = evaluate(privateKey, input);
const client = blindVoprf(publicKey, input, systemRandom);
const { blinded } = client;

const threads = openVoprfThreads({ threads: 1 });
afterAll(() => threads[Symbol.asyncDispose]());

const refused = expect.objectContaining({ status: 503, fields: { 'Retry-After': '1' } });

describe('RFC 9578 sections 5.2 and 5.4 on a thread', () => {
  test('the client accepts the response of a thread', async () => {
    const response = await threads.blindEvaluate(ALONE, privateKey, publicKey, blinded);
    expect(client.finalize(response ?? Buffer.alloc(0))).toEqual(authenticator);
  });

  test('a thread computes the same authenticator as the main thread', async () => {
    expect(await threads.evaluate(ALONE, privateKey, input)).toEqual(authenticator);
  });

  test('octets that are no element get no response, and the thread keeps running', async () => {
    const { running } = threads;
    for (const bytes of [Buffer.alloc(49), Buffer.alloc(0), blinded.subarray(1)]) {
      expect(await threads.blindEvaluate(ALONE, privateKey, publicKey, bytes)).toBeUndefined();
    }
    expect(threads.running).toEqual(running);
  });

  test('arguments may be parts of larger Buffers, may repeat, and may change after the call', async () => {
    const pool = Buffer.concat([Buffer.alloc(3), privateKey, input, Buffer.alloc(3)]);
    const [keyPart, inputPart] = [pool.subarray(3, 51), pool.subarray(51, 149)];
    const evaluating = [1, 2].map(() => threads.evaluate(ALONE, keyPart, inputPart));
    pool.fill(0);
    expect(await Promise.all(evaluating)).toEqual([authenticator, authenticator]);
    expect(await threads.evaluate(ALONE, privateKey, privateKey)).toEqual(
      evaluate(privateKey, privateKey),
    );
  });

  test('the keys of the caller are not changed', async () => {
    const before = [privateKey, publicKey].map((each) => Buffer.from(each));
    await threads.blindEvaluate(ALONE, privateKey, publicKey, blinded);
    expect([privateKey, publicKey]).toEqual(before);
  });
});

describe('threads', () => {
  test('threads start when they are needed, up to the limit, and are used again', async () => {
    await using two = openVoprfThreads({ threads: 2 });
    expect(two.running).toHaveLength(0);
    await two.evaluate(ALONE, privateKey, input);
    expect(two.running).toHaveLength(1);
    const [first] = two.running;
    await two.evaluate(ALONE, privateKey, input);
    expect(two.running).toEqual([first]);
    await Promise.all(Array.from({ length: 6 }, () => two.evaluate(ALONE, privateKey, input)));
    expect(two.running).toHaveLength(2);
    expect(two.running).toContain(first);
  });

  test('a process ends without closing its threads, but not before their tasks are done', async () => {
    const at = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
    const script = `
      const { openVoprfThreads } = await import(${at('./voprf-threads.ts')});
      const [key, input] = ${JSON.stringify([privateKey.toString('hex'), input.toString('hex')])};
      const threads = openVoprfThreads();
      const evaluate = () => threads.evaluate({ groups: [] }, Buffer.from(key, 'hex'), Buffer.from(input, 'hex'));
      await evaluate();
      const evaluated = await evaluate(); // computed by an idle thread
      process.stdout.write(evaluated.toString('hex'));`;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
    expect(stdout).toBe(authenticator.toString('hex'));
  });

  test('closing ends the threads, and refuses waiting and later tasks', async () => {
    const closing = openVoprfThreads({ threads: 1 });
    await closing.evaluate(ALONE, privateKey, input);
    const [worker] = closing.running;
    const tasks = [1, 2, 3].map(() => closing.blindEvaluate(ALONE, privateKey, publicKey, blinded));
    const settled = Promise.allSettled(tasks);
    await closing[Symbol.asyncDispose]();
    expect(closing.running).toHaveLength(0);
    expect(worker?.threadId).toBe(-1);
    const [current, ...waiting] = await settled;
    expect(current).toEqual({ status: 'rejected', reason: new Error('a VOPRF thread ended') });
    for (const each of waiting) expect(each).toEqual({ status: 'rejected', reason: refused });
    await expect(closing.evaluate(ALONE, privateKey, input)).rejects.toEqual(refused);
    expect(closing.running).toHaveLength(0);
  });
});

describe('a thread that ends is replaced', () => {
  test('a thread that ends while it computes is replaced: its task fails, and waiting tasks are done', async () => {
    await threads.evaluate(ALONE, privateKey, input);
    const [worker] = threads.running;
    const ending = threads.blindEvaluate(ALONE, privateKey, publicKey, blinded);
    const behind = threads.evaluate(ALONE, privateKey, input);
    await Promise.all([
      expect(ending).rejects.toThrow('a VOPRF thread ended'),
      worker?.terminate(),
    ]);
    expect(await behind).toEqual(authenticator);
    expect(threads.running).toHaveLength(1);
    expect(threads.running).not.toContain(worker);
  });

  test('an idle thread that ends is replaced', async () => {
    await threads.evaluate(ALONE, privateKey, input);
    const [worker] = threads.running;
    await worker?.terminate();
    expect(threads.running).toHaveLength(0);
    expect(await threads.evaluate(ALONE, privateKey, input)).toEqual(authenticator);
  });

  test('a thread that ends at the moment of its reply is replaced', async () => {
    for (let round = 0; round < 5; round += 1) {
      await threads.evaluate(ALONE, privateKey, input);
      const [worker] = threads.running;
      const ended = new Promise((resolve) => worker?.once('exit', resolve));
      worker?.once('message', () => void worker.terminate());
      const both = [1, 2].map(() => threads.evaluate(ALONE, privateKey, input));
      const [first, second] = await Promise.allSettled(both);
      expect(first).toEqual({ status: 'fulfilled', value: authenticator });
      // The second task was given either to the old thread before its end was known, or to a new thread.
      expect(second?.status === 'rejected' || second?.value.equals(authenticator)).toBe(true);
      await ended;
    }
    expect(await threads.evaluate(ALONE, privateKey, input)).toEqual(authenticator);
  });

  test('an error that ends a thread is reported to the caller, and contains no key', async () => {
    const bad = Buffer.alloc(48, 255);
    const evaluating = threads.evaluate(ALONE, bad, input);
    const behind = threads.evaluate(ALONE, privateKey, input);
    const error: unknown = await evaluating.catch((reason: unknown) => reason);
    expect(error).not.toBeInstanceOf(HttpError);
    const { message } = error as Error;
    expect(message).toContain('outside of range');
    for (const base of [10, 16]) {
      expect(message).not.toContain(BigInt(`0x${bad.toString('hex')}`).toString(base));
    }
    expect(await behind).toEqual(authenticator);
  });

  test('a thread that an error ends while no caller waits is replaced', async () => {
    await threads.evaluate(ALONE, privateKey, input);
    const [worker] = threads.running;
    const ended = new Promise((resolve) => worker?.once('exit', resolve));
    worker?.postMessage({ operation: 'none' }, []);
    await ended;
    expect(await threads.evaluate(ALONE, privateKey, input)).toEqual(authenticator);
  });
});

describe('the lines of tasks', () => {
  test('the lines are bounded together: each operation yields places to the other, up to half', async () => {
    await using bounded = openVoprfThreads({ threads: 1, most: 4 });
    const issue = () => bounded.blindEvaluate(ALONE, privateKey, publicKey, blinded);
    const verify = () => bounded.evaluate(ALONE, privateKey, input);
    const issued = Promise.allSettled(Array.from({ length: 6 }, issue));
    const verified = Promise.allSettled(Array.from({ length: 3 }, verify));
    const statuses = (all: readonly { readonly status: string }[]) =>
      all.map(({ status }) => status === 'fulfilled');
    expect(statuses(await issued)).toEqual([true, true, true, false, false, false]);
    expect(statuses(await verified)).toEqual([true, true, false]);
    await expect(Promise.all([issue(), verify()])).resolves.toHaveLength(2);
  });

  test('the lines are served in rotation, so a flood of requests does not delay verification', async () => {
    const order: string[] = [];
    const noted = async (name: string, task: Promise<unknown>) => {
      await task;
      order.push(name);
    };
    const flood = Array.from({ length: 8 }, () =>
      noted('issued', threads.blindEvaluate(ALONE, privateKey, publicKey, blinded)),
    );
    const later = [1, 2].map(() => noted('verified', threads.evaluate(ALONE, privateKey, input)));
    await Promise.all([...flood, ...later]);
    expect(order.slice(0, 4)).toEqual(['issued', 'verified', 'issued', 'verified']);
    expect(order).toHaveLength(10);
  });

  test('tasks of one line keep their order', async () => {
    const inputs = Array.from({ length: 6 }, (_, index) => Buffer.of(index));
    const order: number[] = [];
    await Promise.all(
      inputs.map(async (each, index) => {
        expect(await threads.evaluate(ALONE, privateKey, each)).toEqual(evaluate(privateKey, each));
        order.push(index);
      }),
    );
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  });
});
