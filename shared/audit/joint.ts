import type { Audit, AuditLink } from '#shared/stores/audit/audit.ts';

/**
 * The key that finds the first row of each link whose rows have joint keys, of a kind and of a person or a client: earlier
 * versions wrote none.
 */
export const JOINT = 'joint keys of both';

/** The key that finds the first row of such a link behind one that has none. */
export const JOINT_BEGIN = 'joint keys of both begin';

/** Those of links whose rows have joint keys of clients alone, which count as none. */
export const FORMER_JOINT = ['joint keys', 'joint keys begin'] as const;

/** Returns the keys of the first row of the link behind `head`. */
export const jointMarks = async (
  audit: Pick<Audit, 'rows'>,
  head: AuditLink | undefined,
): Promise<readonly string[]> =>
  head === undefined || (await hasJointKeys(audit, head)) ? [JOINT] : [JOINT, JOINT_BEGIN];

/**
 * Returns the place from which on all rows up to the last link have joint keys. An older process may make links between
 * those of newer ones, so that they begin several times.
 */
export async function jointFrom(audit: Pick<Audit, 'rows'>, head: AuditLink): Promise<number> {
  if (!(await hasJointKeys(audit, head))) return head.last + 1;
  const whole = { first: 1, last: head.last };
  const [begin] = await audit.rows({ ...whole, key: JOINT_BEGIN, newestFirst: true }, 1);
  return begin?.seq ?? 1;
}

const hasJointKeys = async (audit: Pick<Audit, 'rows'>, { first }: AuditLink) =>
  (await audit.rows({ first, last: first, key: JOINT }, 1)).length > 0;
