import { type AuditFilter, listEvents } from '#shared/audit/list.ts';
import { personNamed } from '#shared/people/people.ts';
import type { OpenedAudit } from './with-audit.ts';

/**
 * Returns the filter with the id of its person, if that is given as a name. An id comes first, also of somebody who was
 * removed, so that a name that looks like one hides nobody. Throws `NoSuchPerson` if it is neither.
 */
export async function withPersonId(
  filter: AuditFilter,
  { audit, people }: Pick<OpenedAudit, 'audit' | 'people'>,
): Promise<AuditFilter> {
  const { person } = filter;
  if (person === undefined || (await people.get(person)) !== undefined) return filter;
  const { events } = await listEvents(audit, { person }, { limit: 1 });
  if (events.length > 0) return filter;
  return { ...filter, person: (await personNamed(people, person)).id };
}
