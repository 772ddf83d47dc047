import type { People, WholePerson } from '#shared/stores/people/people.ts';

/** Yields all people with all that is stored of them, one by one, each as of one moment. */
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
