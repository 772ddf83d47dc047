"""Buildbot's RemoteUserAuth, in a site of Twisted: Debian has Buildbot without its pages. Argument: its port."""

import json
import sys

from buildbot.www.auth import RemoteUserAuth
from twisted.internet import reactor
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Session, Site

auth = RemoteUserAuth(header="X-Forwarded-Preferred-Username", headerRegex="(?P<username>.+)")


class OwnSession(Session):
    user_info = None

    def updateSession(self, request):
        pass


class Who(Resource):
    isLeaf = True

    def render(self, request):
        def signed_in(_):
            request.write(json.dumps(request.getSession().user_info).encode())
            request.finish()

        def refused(failure):
            request.setResponseCode(int(failure.value.status))
            request.finish()

        auth.maybeAutoLogin(request).addCallbacks(signed_in, refused)
        return NOT_DONE_YET


site = Site(Who())
site.sessionFactory = OwnSession
reactor.listenTCP(int(sys.argv[1]), site, interface="127.0.0.1")
print("listening", flush=True)
reactor.run()
