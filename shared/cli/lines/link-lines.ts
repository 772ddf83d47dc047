import type { Told } from '#shared/operations/operation.ts';
import type { passwordLink } from '#shared/operations/people/password-link.ts';
import { minute } from './last-use.ts';

/** Returns the output for people about a link with which a person sets a password. */
export function linkLines(made: Told<typeof passwordLink>): readonly string[] {
  const { id, name, link, expires_at, mailed_to, removes_second_factor } = made;
  const lines = [
    ['id', id],
    ['name', name],
    ['a link will be mailed to', mailed_to],
    ['link', link],
    ['works once, until', expires_at === undefined ? undefined : minute(expires_at * 1000)],
    ['removes', removes_second_factor && 'the second factor, too'],
  ];
  return lines.flatMap(([what, value]) => (value === undefined ? [] : [`${what}: ${value}`]));
}
