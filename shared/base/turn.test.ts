import { describe, expect, test } from '@jest/globals';
import { atTurnsEnd, oncePerTurn, sendTogether } from './turn.ts';

const nextTurn = () => new Promise((resolve) => void setImmediate(resolve));

test("work of one turn runs at the turn's end, in its order", async () => {
  const done: number[] = [];
  for (const one of [1, 2, 3]) atTurnsEnd(() => void done.push(one));
  await Promise.resolve();
  expect(done).toEqual([]);
  await nextTurn();
  expect(done).toEqual([1, 2, 3]);
});

test('work that asks again waits for the next turn, so that other work gets its turn', async () => {
  const done: string[] = [];
  atTurnsEnd(() => {
    done.push('first');
    atTurnsEnd(() => void done.push('again'));
  });
  atTurnsEnd(() => void done.push('second'));
  await nextTurn();
  expect(done).toEqual(['first', 'second']);
  await nextTurn();
  expect(done).toEqual(['first', 'second', 'again']);
});

test('all work of one turn, promises included, causes one look, and that of the next turn another', async () => {
  let looks = 0;
  const look = oncePerTurn(() => (looks += 1));
  const seen: string[] = [];
  const ask = (who: string) => () => {
    seen.push(`${who} ${look()}`);
    const later = async () => {
      for (let n = 0; n < 5; n += 1) await Promise.resolve();
      seen.push(`${who} later ${look()}`);
    };
    void later();
    process.nextTick(() => seen.push(`${who} then ${look()}`));
  };
  atTurnsEnd(ask('first'));
  atTurnsEnd(ask('second'));
  await nextTurn();
  const all = ['first', 'second', 'first then', 'second then', 'first later', 'second later'];
  expect(seen.splice(0)).toEqual(all.map((who) => `${who} 1`));
  atTurnsEnd(ask('third'));
  await nextTurn();
  expect(seen).toEqual(['third', 'third then', 'third later'].map((who) => `${who} 2`));
});

test('a call outside `atTurnsEnd` calls the function again', async () => {
  let looks = 0;
  const look = oncePerTurn(() => (looks += 1));
  const seen: unknown[] = [look(), look()];
  atTurnsEnd(() => {
    seen.push(look());
    setImmediate(() => seen.push(look(), look()));
  });
  setImmediate(() => seen.push(look(), look()));
  await nextTurn();
  await nextTurn();
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test('a look that fails is not shared: the next caller looks again', async () => {
  let looks = 0;
  const look = oncePerTurn(() => {
    looks += 1;
    if (looks === 1) throw new Error('the store is away');
    return looks;
  });
  const seen: unknown[] = [];
  for (let n = 0; n < 3; n += 1) {
    atTurnsEnd(() => {
      try {
        seen.push(look());
      } catch (error) {
        seen.push(String(error));
      }
    });
  }
  await nextTurn();
  expect(seen).toEqual(['Error: the store is away', 2, 2]);
});

describe('answers', () => {
  test('answers are sent in their order when all work of the turn is done', async () => {
    const done: string[] = [];
    for (const one of ['first', 'second']) {
      atTurnsEnd(() => {
        sendTogether(() => void done.push(`${one} sent`));
        done.push(`${one} done`);
      });
    }
    await nextTurn();
    expect(done).toEqual(['first done', 'second done', 'first sent', 'second sent']);
  });

  test('answers wait for 31 others at most', async () => {
    const sent: number[] = [];
    const seen: number[] = [];
    for (let one = 0; one < 40; one += 1) {
      atTurnsEnd(() => {
        seen.push(sent.length);
        sendTogether(() => void sent.push(one));
      });
    }
    await nextTurn();
    expect(seen).toEqual([...Array(32).fill(0), ...Array(8).fill(32)]);
    expect(sent).toEqual([...seen.keys()]);
  });

  test('answers are sent at once by later promises of the work, and by any other caller', async () => {
    const sent: string[] = [];
    const send = (what: string) => () => void sent.push(what);
    sendTogether(send('outside'));
    expect(sent).toEqual(['outside']);
    atTurnsEnd(() => {
      void Promise.resolve().then(() => {
        sendTogether(send('promise'));
        expect(sent).toEqual(['outside', 'within', 'promise']);
      });
      sendTogether(send('within'));
    });
    await nextTurn();
    expect(sent).toEqual(['outside', 'within', 'promise']);
  });

  test('an answer that cannot be sent makes only its own work fail', async () => {
    const told: string[] = [];
    const broken = () => {
      throw new Error('broken');
    };
    for (const one of ['first', 'second', 'third']) {
      atTurnsEnd(
        () => sendTogether(one === 'second' ? broken : () => void told.push(one)),
        (error) => void told.push(`${one}: ${String(error)}`),
      );
    }
    await nextTurn();
    expect(told).toEqual(['first', 'second: Error: broken', 'third']);
  });
});
