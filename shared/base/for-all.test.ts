import { expect, test } from '@jest/globals';
import { forAll } from './for-all.ts';

/** Records the questions in their order; a test answers them. */
function asked() {
  const questions: PromiseWithResolvers<number>[] = [];
  const ask = forAll(() => {
    const question = Promise.withResolvers<number>();
    questions.push(question);
    return question.promise;
  });
  return { questions, ask };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('all waiting callers get the answer to one question that was asked after they came', async () => {
  const { questions, ask } = asked();
  const first = ask();
  await turn();
  const later = [ask(), ask()];
  await turn();
  expect(questions).toHaveLength(1);
  questions[0]?.resolve(1);
  await expect(first).resolves.toBe(1);
  await turn();
  expect(questions).toHaveLength(2);
  questions[1]?.resolve(2);
  await expect(Promise.all(later)).resolves.toEqual([2, 2]);
});

test('a failed question fails the waiting callers, and no later caller', async () => {
  const { questions, ask } = asked();
  const first = ask();
  await turn();
  const meanwhile = ask();
  questions[0]?.reject(new Error('no answer'));
  await expect(first).rejects.toThrow('no answer');
  await expect(meanwhile).rejects.toThrow('no answer');
  const later = ask();
  await turn();
  questions[1]?.resolve(2);
  await expect(later).resolves.toBe(2);
});
