import { makeFolder } from '#shared/base/make-folder.ts';
import { Failure } from './command.ts';

/** The system's reasons for which the user may not write at a place. */
const FORBIDDEN: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** Creates the folder that the user named, and its missing parents. Throws `Failure`. */
export function makeNamedFolder(...[folder, mode]: Parameters<typeof makeFolder>): void {
  try {
    makeFolder(folder, mode);
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' ? `${path} is no folder` : code;
    const remedy = FORBIDDEN.has(code)
      ? `run the command as a user who may write to ${path}, or choose another folder`
      : 'choose another folder';
    throw new Failure(`cannot make the folder ${folder}: ${reason}; ${remedy}`);
  }
}
