/** @needs caddy curl openssl */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startProcess } from './process.ts';
import type { RunningProcess } from './process.ts';

const run = promisify(execFile);

/** Starts Caddy in front of a server, with a self-signed certificate for `localhost`. */
export async function startTlsFront(
  folder: string,
  port: number,
  upstream: string,
): Promise<RunningProcess> {
  const [key, certificate] = [join(folder, 'front-key.pem'), join(folder, 'front.pem')];
  const about = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const files = ['-keyout', key, '-out', certificate];
  await run('openssl', ['req', '-x509', ...kind, ...about, ...files]);
  const file = join(folder, 'Caddyfile');
  await writeFile(
    file,
    `{
	admin off
	auto_https off
	servers {
		protocols h1 h2
	}
}
https://localhost:${port} {
	bind 127.0.0.1
	tls ${certificate} ${key}
	reverse_proxy ${new URL(upstream).host}
}
`,
  );
  return startProcess('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { PATH: process.env['PATH'], HOME: folder },
    ready: async () => {
      const args = [
        '--silent',
        '--insecure',
        '--output',
        '/dev/null',
        `https://localhost:${port}/`,
      ];
      await run('curl', args);
      return true;
    },
  });
}
