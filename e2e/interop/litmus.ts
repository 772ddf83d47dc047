/** @needs litmus */
/** litmus, the common test suite for WebDAV servers (Debian's 0.13). */
import { execFile } from 'node:child_process';
import { temporaryFolder } from '../parts/temporary-folder.ts';

export interface Verdict {
  /** The numbers of run and passed tests per suite. */
  readonly suites: Readonly<Record<string, readonly [run: number, passed: number]>>;
  /** Lines about tests that failed, were skipped, or passed with a warning. */
  readonly remarks: readonly string[];
}

const SUITES = ['basic', 'copymove', 'props', 'locks', 'http'];
/** litmus prints the name of a test before it runs, without a result. */
const REMARK = /^ ?\d+\. (?<test>\w+)\.* +(?<result>FAIL.*|SKIPPED.*|WARNING.*|pass \(.*)$/;
const SUMMARY = /^<- summary for `(?<suite>\w+)': of (?<run>\d+) tests? run: (?<passed>\d+) passed/;

/** Runs all suites. A failed suite does not reject. */
export async function litmus(url: string, name: string, password: string): Promise<Verdict> {
  await using folder = await temporaryFolder();
  const output = await new Promise<string>((resolve) => {
    const env = { PATH: process.env['PATH'], TESTS: SUITES.join(' ') };
    const options = { env, cwd: folder.path, timeout: 170_000 };
    execFile('litmus', ['--keep-going', url, name, password], options, (_error, out) =>
      resolve(out),
    );
  });
  const lines = output.split(/[\r\n]+/);
  const suites = lines.flatMap((line) => {
    const { suite = '', run, passed } = SUMMARY.exec(line)?.groups ?? {};
    return suite === '' ? [] : [[suite, [Number(run), Number(passed)]] as const];
  });
  const remarks = lines.filter((line) => REMARK.test(line) || line.includes('WARNING'));
  return { suites: Object.fromEntries(suites), remarks };
}
