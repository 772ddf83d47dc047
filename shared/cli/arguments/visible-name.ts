import { isVisibleName } from '#shared/people/names/visible-name.ts';
import { UsageError } from './command.ts';

/** The name, if people can read it; throws `UsageError`. */
export function visibleName(option: string, name: string): string {
  if (isVisibleName(name)) return name;
  throw new UsageError(`${option} must be 1 to 100 characters, none of them invisible`);
}
