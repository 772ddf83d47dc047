"""Django, whose RemoteUserMiddleware believes the field Remote-User. Argument: its port."""

import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

import django
from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import re_path

settings.configure(
    SECRET_KEY="of a test",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        __name__ + ".FromProxy",
    ],
    AUTHENTICATION_BACKENDS=["django.contrib.auth.backends.RemoteUserBackend"],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

from django.contrib.auth.middleware import RemoteUserMiddleware  # noqa: E402


class FromProxy(RemoteUserMiddleware):
    header = "HTTP_REMOTE_USER"


def who(request):
    told = ["HTTP_REMOTE_EMAIL", "HTTP_REMOTE_GROUPS"]
    return JsonResponse(
        {"user": request.user.get_username(), **{name: request.META.get(name) for name in told}}
    )


urlpatterns = [re_path("", who)]


class Quiet(WSGIRequestHandler):
    def log_message(self, *args):
        pass


call_command("migrate", verbosity=0)
server = make_server("127.0.0.1", int(sys.argv[1]), get_wsgi_application(), handler_class=Quiet)
print("listening", flush=True)
server.serve_forever()
