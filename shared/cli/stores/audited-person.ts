import { type AuditFilter, listEvents } from '#shared/audit/list.ts';
import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import type { OpenedAudit } from './with-audit.ts';

/**
 * Returns the filter with the id of its person, if that is given as a name. An id comes first, also of somebody who was
 * removed, so that a name that looks like one hides nobody.
 */
export async function withPersonId(
  filter: AuditFilter,
  { audit, people }: Pick<OpenedAudit, 'audit' | 'people'>,
): Promise<AuditFilter> {
  const { person } = filter;
  if (person === undefined || (await people.get(person)) !== undefined) return filter;
  const { events } = await listEvents(audit, { person }, { limit: 1 });
  if (events.length > 0) return filter;
  const named = await people.getByName(usernameCaseMapped(person) ?? '');
  return named === undefined ? filter : { ...filter, person: named.id };
}
