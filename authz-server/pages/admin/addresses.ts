import type { Operation } from '#shared/operations/operation.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';
import { ADMIN_PATH } from './admission.ts';

/** The name of an operation in its address. */
const slugOf = ({ name }: Pick<Operation, 'name'>) => name.replaceAll(' ', '-');

const BY_SLUG: ReadonlyMap<string, Operation> = new Map(
  OPERATIONS.map((operation) => [slugOf(operation), operation]),
);

/** Undefined: there is none at this address. */
export const operationAt = (slug: string): Operation | undefined => BY_SLUG.get(slug);

/** The address of an operation's page. `members`: with what its form is filled in. */
export function pageOf(
  operation: Pick<Operation, 'name'>,
  members: Readonly<Record<string, string>> | URLSearchParams = {},
): string {
  const path = `${ADMIN_PATH}/${slugOf(operation)}`;
  const query = new URLSearchParams(members);
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** The subject of an operation: the first word of its name. */
export const groupOf = ({ name }: Pick<Operation, 'name'>): string => name.split(' ')[0] ?? name;
