/** @needs gcc */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SOURCE = fileURLToPath(new URL('failing-files.c', import.meta.url));

/** Makes calls of other processes for files below `folder` fail. `place`: the folder for its own files. */
export async function failingFiles(folder: string, place: string) {
  const [library, errno] = [join(place, 'failing-files.so'), join(place, 'errno')];
  await run('gcc', ['-O1', '-Wall', '-Werror', '-shared', '-fPIC', '-o', library, SOURCE, '-ldl']);
  return {
    /** The environment for processes whose calls may fail. */
    env: { LD_PRELOAD: library, FAILING_FOLDER: folder, FAILING_ERRNO: errno },
    fail: (error: keyof typeof constants.errno) => writeFile(errno, String(constants.errno[error])),
    work: () => rm(errno),
  };
}
