import { nextTick } from '#shared/base/safe-timers.ts';

/** Most different fields of one question: what waits behind it waits no longer than for a script. */
const MOST_FIELDS = 100;

interface Question {
  /** With the place of its answer. */
  readonly places: Map<string, number>;
  readonly answers: Promise<readonly (string | null)[]>;
}

/**
 * Asks for a field of a hash. Those of one hash that are asked for in one turn of the event loop are one question: requests
 * that are under way together take the same steps together. Each answer is younger than its question, as without it.
 */
export function fieldsAsked(
  ask: (key: string, fields: readonly string[]) => Promise<readonly (string | null)[]>,
): (key: string, field: string) => Promise<string | null> {
  const open = new Map<string, Question>();

  function begin(key: string): Question {
    const places = new Map<string, number>();
    const { promise: answers, resolve } = Promise.withResolvers<readonly (string | null)[]>();
    const question = { places, answers };
    open.set(key, question);
    // Once all that was answered before has gone on: some of it may ask for the same.
    nextTick(() => {
      if (open.get(key) === question) open.delete(key);
      resolve(ask(key, [...places.keys()]));
    });
    return question;
  }

  return async (key, field) => {
    let question = open.get(key);
    if (question === undefined || question.places.size >= MOST_FIELDS) question = begin(key);
    const { places, answers } = question;
    const place = places.get(field) ?? places.size;
    places.set(field, place);
    return (await answers)[place] ?? null;
  };
}
