"""What a server decides (RFC 8120 section 11)."""
import hmac
import secrets
import time

import exchange
import fields
import messages
from octets import INT
from values import Malformed

NC_WINDOW = 128
SESSIONS = 1000


class Table:
    """The sessions of one realm at one server."""

    def __init__(self):
        self.sessions = {}

    def add(self, session):
        while len(self.sessions) >= SESSIONS:
            self.sessions.pop(next(iter(self.sessions)))
        sid = secrets.token_bytes(16)
        self.sessions[sid] = session
        return sid

    def find(self, sid):
        session = self.sessions.get(sid)
        return session if session and time.monotonic() < session.ends else None

    def end(self, sid):
        del self.sessions[sid]


class Session:
    def __init__(self, user, elements, fake, seconds):
        self.user = user
        self.elements = elements
        self.fake = fake
        self.ends = time.monotonic() + seconds
        self.authenticated = False
        self.largest = 0
        self.received = set()

    def fresh(self, nc, nc_max):
        """Section 6: not above nc-max, within the window, and not received yet."""
        return nc <= nc_max and nc > self.largest - NC_WINDOW and nc not in self.received

    def spend(self, nc):
        self.largest = max(self.largest, nc)
        self.received = {each for each in (*self.received, nc) if each > self.largest - NC_WINDOW}


class Verifier:
    """Answers credentials: with the user and the text of an info, or with the text of a challenge.

    `J_of` has J for each user. `vh` is asked for each request.
    """

    def __init__(self, algorithm, realm, J_of, nc_max=10_000, seconds=300):
        self.algorithm = algorithm
        self.realm = realm
        self.J_of = J_of
        self.nc_max = nc_max
        self.seconds = seconds
        self.table = Table()
        # Of all who do not exist: of the same distribution as any other (section 11 note 2).
        self.J_of_nobody = exchange.K_c1(algorithm, exchange.random_S_s1(algorithm))

    def answer(self, text, vh):
        """(user, info) or (None, challenge)."""
        if text is None:
            return None, self.init('initial')
        try:
            scheme, parameters = fields.credentials(text)
            if scheme != 'mutual':
                return None, self.init('initial')
            name, values = messages.read(parameters, 'request')
        except Malformed:
            return None, self.init('invalid-parameters')
        if {each: values[each] for each in messages.REALM if each in values} != self.realm:
            return None, self.init('initial')
        return ANSWERS[name](self, values, vh)

    def init(self, reason):
        return self.written({'reason': reason})

    def written(self, values):
        return f'Mutual {messages.write(self.algorithm, self.realm | values)}'

    def exchanged(self, values, vh):
        K_c1, S_s1 = INT(values['kc1']), exchange.random_S_s1(self.algorithm)
        known = values['user'] in self.J_of
        J = self.J_of.get(values['user'], self.J_of_nobody)
        try:
            K_s1 = exchange.K_s1(self.algorithm, J, K_c1, S_s1)
            z = exchange.server_z(self.algorithm, K_c1, K_s1, S_s1)
        except ValueError:
            return None, self.init('invalid-parameters')
        sid = self.table.add(Session(values['user'], (K_c1, K_s1, z), not known, self.seconds))
        return None, self.written({
            'sid': sid,
            'ks1': self.algorithm.element_octets(K_s1),
            'nc-max': self.nc_max,
            'nc-window': NC_WINDOW,
            'time': self.seconds,
        })

    def verified(self, values, vh):
        sid, nc = values['sid'], values['nc']
        session = self.table.find(sid)
        if session is None:
            return None, self.init('stale-session')
        if not session.fresh(nc, self.nc_max):
            self.table.end(sid)
            return None, self.init('stale-session')
        expected = exchange.VK(self.algorithm, exchange.CLIENT, *session.elements, nc, vh)
        if session.fake or not hmac.compare_digest(expected, values['vkc']):
            if not session.authenticated:
                self.table.end(sid)
            return None, self.init('auth-failed')
        session.authenticated = True
        session.spend(nc)
        vks = exchange.VK(self.algorithm, exchange.SERVER, *session.elements, nc, vh)
        return session.user, messages.write(self.algorithm, {'sid': sid, 'vks': vks})


ANSWERS = {'req-KEX-C1': Verifier.exchanged, 'req-VFY-C': Verifier.verified}
