import { expect, test } from '@jest/globals';
import { BURST } from './push-crowd.ts';
import { inTurn } from './push-delivered.ts';

const ALL = ['a', 'b'].map((id) => ({ id, path: `/${id}`, push: `/${id}` }));

test('each subscription has one message in transit at a time, and its burst in all', async () => {
  const under = new Set<string>();
  const visits = new Map<string, number>();
  const next = inTurn(ALL, async ({ id }) => {
    expect(under.has(id)).toBe(false);
    under.add(id);
    await Promise.resolve();
    under.delete(id);
    visits.set(id, (visits.get(id) ?? 0) + 1);
  });
  for (let first = next(); first !== undefined; first = next()) {
    const second = next();
    expect(next()).toBeUndefined();
    await Promise.all([first, second ?? Promise.reject(new Error('one is visited less'))]);
  }
  expect([...visits]).toEqual(ALL.map(({ id }) => [id, BURST]));
});
