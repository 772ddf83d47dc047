import type { People, WholePerson } from '#shared/stores/people/people.ts';

/** Yields all people with all their stored data, one person at a time; the data of each person is from one moment. */
export async function* everybody(
  people: Pick<People, 'list' | 'getWhole'>,
): AsyncGenerator<WholePerson> {
  for await (const slice of people.list()) {
    for (const { id } of slice) {
      const whole = await people.getWhole(id);
      if (whole !== undefined) yield whole;
    }
  }
}
