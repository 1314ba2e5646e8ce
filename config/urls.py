"""The URLs of the web process, except /healthz, /readyz and /metrics, which config/health.py answers."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.generic import RedirectView
from django.views.i18n import set_language

from config.api import DocsView, ProblemKindView, SchemaView
from config.oidc import views as oidc
from config.password_reset import NewPasswordView, RequestView
from config.preferences import set_preferences
from config.signin import throttle
from config.signin_pages import SignInView, SignOutView
from jobs.api.socket_tickets import TicketView

admin.autodiscover()

urlpatterns = [
    # Browsers request it on pages without an icon of their own, such as the admin's.
    path("favicon.ico", login_not_required(RedirectView.as_view(url=f"{settings.STATIC_URL}favicon.svg"))),
    path("login", throttle(SignInView.as_view()), name="login"),
    path("login/oidc", login_not_required(oidc.start), name="oidc"),
    path("login/oidc/callback", login_not_required(oidc.callback)),
    path("logout", login_not_required(SignOutView.as_view()), name="logout"),
    path("password/reset", RequestView.as_view(), name="password_reset"),
    path("password/new/<uidb64>/<token>", NewPasswordView.as_view(), name="password_new"),
    path("language", login_not_required(set_language), name="set_language"),
    path("preferences", login_not_required(set_preferences), name="set_preferences"),
    path("admin/login/", throttle(admin.site.login)),
    path("admin/", admin.site.urls),
    path("api/schema", SchemaView.as_view(), name="schema"),
    path("api/docs", DocsView.as_view(url_name="schema"), name="docs"),
    path("api/problems/<slug:code>", ProblemKindView.as_view(), name="problem"),
    path("api/ws-ticket", TicketView.as_view(), name="ws-ticket"),
    path("", include("scheduler.pages.urls")),
    path("", include("jobs.pages.urls")),
    path("", include("scheduler.steps.pages.urls")),
    path("", include("exports.pages.urls")),
    path("api/", include("jobs.api.urls")),
    path("api/", include("exports.api.urls")),
    path("api/", include("scheduler.api.urls")),
    path("api/", include("scheduler.steps.api.urls")),
]

handler400 = "config.errors.bad_request"
handler403 = "config.errors.permission_denied"
handler404 = "config.errors.page_not_found"
handler500 = "config.errors.server_error"
