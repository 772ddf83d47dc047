import { makeFolder } from '#shared/base/make-folder.ts';
import { Failure } from './command.ts';

/** Creates the folder that the user named, and its missing parents. Throws `Failure`. */
export function makeNamedFolder(...[folder, mode]: Parameters<typeof makeFolder>): void {
  try {
    makeFolder(folder, mode);
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' ? `${path} is no folder` : code;
    throw new Failure(`cannot make the folder ${folder}: ${reason}`);
  }
}
