/** nephele, a WebDAV server on Express. Arguments: its port and the folder that it serves. */
import { Adapter } from '@nephele/adapter-file-system';
import { Authenticator } from '@nephele/authenticator-none';
import express from 'express';
import nephele from 'nephele';

const [, , port, root = ''] = process.argv;
const app = express();
app.use('/base', nephele({ adapter: new Adapter({ root }), authenticator: new Authenticator() }));
app.listen(Number(port), '127.0.0.1', () => console.log('listening'));
