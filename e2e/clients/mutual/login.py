"""What a client decides (RFC 8120 section 10), at an origin or at a proxy."""
from dataclasses import dataclass
from enum import Enum

import exchange
import fields
import messages
from algorithms import ALGORITHMS
from session import Offer
from values import Malformed


@dataclass(frozen=True)
class Role:
    """RFC 8120 section 14 lists what differs at a proxy."""

    name: str
    status: int
    challenge: str
    credentials: str
    info: str


ORIGIN = Role('origin', 401, 'WWW-Authenticate', 'Authorization', 'Authentication-Info')
PROXY = Role('proxy', 407, 'Proxy-Authenticate', 'Proxy-Authorization', 'Proxy-Authentication-Info')


class Verdict(Enum):
    AGAIN = 'AGAIN'
    SUCCEED = 'AUTH-SUCCEED'
    REQUIRED = 'AUTH-REQUIRED'
    UNAUTHENTICATED = 'UNAUTHENTICATED'


class Broken(Exception):
    """A fatal communication error: nothing of the response may be used (section 10.1)."""


class Login:
    """One user at one place. `begin`, then for each request of the sequence `credentials` and `judge`.

    The wire is what leads there: it says what a proof is bound to.
    """

    def __init__(self, role, wire, place, user, password, report):
        self.role = role
        self.wire = wire
        self.place = place
        self.user = user
        self.password = password
        self.report = report
        self.realm = None
        self.algorithm = None
        self.pi = None
        self.session = None
        self.path = None

    def begin(self, covered=lambda path: True):
        """A new sequence; `covered` says whether a list of URIs, or None for no list, has the resource."""
        self.first = True
        self.exchanged = False
        self.sent = None
        if self.pi is None or not covered(self.path):
            self.next = None
        else:
            self.next = 'req-VFY-C' if self.available else 'req-KEX-C1'

    @property
    def available(self):
        return self.session is not None and self.session.usable

    def credentials(self):
        """The name and text of the field to send, if any."""
        self.sent = self.next
        if self.sent is None:
            return {}
        if self.sent == 'req-KEX-C1':
            self.offer = Offer(self.realm, self.algorithm, self.user, self.pi)
            message = self.offer.message()
        else:
            message, self.expected = self.session.message(self.wire.vh(self.place))
        self.report('sent', at=self.role.name, message=self.sent, nc=message.get('nc'))
        return {self.role.credentials: f'Mutual {messages.write(self.algorithm, message)}'}

    def judge(self, status, headers):
        try:
            name, values = self.message(status, headers)
        except Malformed as malformed:
            raise Broken(str(malformed)) from None
        reason = values.get('reason')
        self.report('received', at=self.role.name, message=name, status=status, reason=reason)
        verdict = RECEIVED[name](self, status, values)
        self.first = False
        return verdict

    def message(self, status, headers):
        infos = headers.get_all(self.role.info, [])
        if status != self.role.status and infos:
            parameters = fields.info(', '.join(infos))
            if 'vks' in parameters:
                return messages.read(parameters, 'response', self.algorithm)
        if 400 <= status < 500:
            found = fields.challenges(', '.join(headers.get_all(self.role.challenge, [])))
            mutual = [parameters for scheme, parameters in found if scheme == 'mutual']
            if len(mutual) > 1:
                raise Malformed('more than one challenge')
            if mutual:
                name, values = messages.read(mutual[0], 'response')
                if name == '200-VFY-S':
                    raise Malformed('a proof in a challenge')
                return name, values
        return 'normal response', {}

    def normal(self, status, values):
        # A server error may come without a proof, and proves nothing.
        if self.first or status >= 500:
            return Verdict.UNAUTHENTICATED
        raise Broken('a response without authentication')

    def init(self, status, values):
        realm = realm_of(values)
        if self.sent and realm == self.realm:
            self.realm = self.pi = self.session = None
            self.user = self.password = None
            return Verdict.REQUIRED
        if not self.first:
            raise Broken('another realm')
        if values['validation'] != self.place.validation:
            raise Broken(f"validation {values['validation']} here")
        if not self.place.within(values.get('auth-scope', self.place.host)):
            raise Broken(f"auth-scope {values['auth-scope']} here")
        if realm != self.realm and not self.adopt(realm):
            return Verdict.REQUIRED
        self.next = 'req-VFY-C' if self.available else 'req-KEX-C1'
        return Verdict.AGAIN

    def adopt(self, realm):
        """The password is for the first realm that asks, and never for another one (section 5)."""
        algorithm = ALGORITHMS.get(realm['algorithm'])
        if algorithm is None or self.realm is not None or self.user is None:
            return False
        scope = realm.get('auth-scope', self.place.host)
        salt = exchange.salt(algorithm, scope, realm['realm'], self.user)
        self.pi = exchange.pi(algorithm, self.password, salt)
        self.realm, self.algorithm = realm, algorithm
        return True

    def stale(self, status, values):
        if self.sent != 'req-VFY-C' or self.exchanged or realm_of(values) != self.realm:
            raise Broken('401-STALE')
        self.session = None
        self.next = 'req-KEX-C1'
        return Verdict.AGAIN

    def key_exchanged(self, status, values):
        expected = self.sent == 'req-KEX-C1' and status == self.role.status
        if not expected or realm_of(values) != self.realm:
            raise Broken('401-KEX-S1')
        try:
            self.session = self.offer.answered(values)
        except Malformed as malformed:
            raise Broken(str(malformed)) from None
        self.path = values.get('path')
        self.exchanged = True
        self.next = 'req-VFY-C'
        return Verdict.AGAIN

    def verified(self, status, values):
        if self.sent != 'req-VFY-C' or not self.session.proven(values, self.expected):
            self.session = None
            raise Broken("the server's proof is wrong")
        return Verdict.SUCCEED


def realm_of(values):
    return {name: values[name] for name in messages.REALM if name in values}


RECEIVED = {
    'normal response': Login.normal,
    '401-INIT': Login.init,
    '401-STALE': Login.stale,
    '401-KEX-S1': Login.key_exchanged,
    '200-VFY-S': Login.verified,
}
