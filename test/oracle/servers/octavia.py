"""octavia.py CONFIG PORT DATABASE SECONDS HOLD SLOW: Octavia's own API, and a driver that makes nothing.

A real driver builds virtual machines or flows. This one waits for SECONDS, and while
the file HOLD is there, and then reports through Octavia's own DriverUpdater that the
change is done. A load balancer whose name contains "-breaks" ends in ERROR instead.

While the file SLOW exists, each creation of a load balancer takes as many more seconds as it
says, one after the other. A creation whose client has disconnected is performed nevertheless.
"""
import os
import socketserver
import sqlite3
import sys
import threading
import time
import traceback
from wsgiref import simple_server

config, port, database, delay, hold, slow = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4]), sys.argv[5], sys.argv[6]
sys.argv = ['octavia-api', '--config-file', config]

from octavia.api import app as api
from octavia.api.drivers import driver_factory
from octavia.api.drivers.driver_agent.driver_updater import DriverUpdater
from octavia.api.drivers.noop_driver.driver import NoopProviderDriver
from octavia.common import constants
from octavia.common import exceptions
from octavia.db import api as db
from octavia.db import base_models
from octavia.db import models
from octavia_lib.api.drivers import exceptions as refusals
from oslo_config import cfg

# sqlite knows one writer. A transaction that has read before another one wrote would
# be refused, so writes of the API and of the driver take turns.
turn = threading.Lock()


def children(balancer):
    """Yields (collection, object, parent) for all that is below a load balancer."""
    for pool in balancer.pools:
        yield 'pools', pool, balancer
        for member in pool.members:
            yield 'members', member, pool
        if pool.health_monitor:
            yield 'healthmonitors', pool.health_monitor, pool
    for listener in balancer.listeners:
        yield 'listeners', listener, balancer


def finish(balancer_id):
    """Ends the change of a load balancer; False if there is none to be seen yet."""
    session = db.get_session()  # what is read lives as long as this
    balancer = session.query(models.LoadBalancer).filter_by(id=balancer_id).first()
    if balancer is None or 'PENDING' not in balancer.provisioning_status:
        return False
    leaving = {balancer.id} if balancer.provisioning_status == constants.PENDING_DELETE else set()
    gone, done = [], {}
    for collection, thing, parent in children(balancer):
        if parent.id in leaving or thing.provisioning_status == constants.PENDING_DELETE:
            leaving.add(thing.id)
            gone.insert(0, {collection: [{'id': thing.id, 'provisioning_status': constants.DELETED}]})
        elif 'PENDING' in thing.provisioning_status:
            done.setdefault(collection, []).append(report(thing))
    if balancer.id in leaving:
        last = {'id': balancer.id, 'provisioning_status': constants.DELETED}
    elif '-breaks' in (balancer.name or ''):
        last = {'id': balancer.id, 'provisioning_status': constants.ERROR}
    else:
        last = report(balancer)
    for part in gone + [done, {'loadbalancers': [last]}]:
        with turn:
            answer = DriverUpdater().update_loadbalancer_status(part)
        if answer['status_code'] != 200:
            raise RuntimeError(answer)
    return True


def report(thing):
    out = {'id': thing.id, 'provisioning_status': constants.ACTIVE}
    if thing.operating_status != constants.NO_MONITOR:
        out['operating_status'] = constants.ONLINE if thing.enabled else constants.OFFLINE
    return out


def finish_later(balancer_id, wait, tries=200):
    """The driver is told before the API has committed, so the change may take a while to show."""
    def run():
        if os.path.exists(hold):
            return finish_later(balancer_id, 0.02, tries)
        try:
            if finish(balancer_id) or tries == 0:
                return
        except Exception:
            traceback.print_exc()
            if tries == 0:
                return
        finish_later(balancer_id, 0.05, tries - 1)

    timer = threading.Timer(wait, run)
    timer.daemon = True
    timer.start()


def balancer_of(what):
    """The id of the load balancer that an argument of a driver's method belongs to."""
    session = db.get_session()
    if isinstance(what, str):
        pool = session.query(models.Pool).filter_by(id=what).first()
        return pool.load_balancer_id if pool else what
    if isinstance(getattr(what, 'loadbalancer_id', None), str):
        return what.loadbalancer_id
    return session.query(models.Pool).filter_by(id=what.pool_id).first().load_balancer_id


class Timed(NoopProviderDriver):
    def create_vip_port(self, *args, **kwargs):
        raise refusals.NotImplementedError()  # the API then asks Neutron itself


def timed(name):
    known = getattr(NoopProviderDriver, name)

    def method(self, what, *args, **kwargs):
        known(self, what, *args, **kwargs)
        finish_later(balancer_of(what), delay)
    return method


for name in [kind + '_' + verb for kind in ('loadbalancer', 'listener', 'pool', 'member', 'health_monitor')
             for verb in ('create', 'update', 'delete')] + ['member_batch_update', 'loadbalancer_failover']:
    setattr(Timed, name, timed(name))


def driver_named(name):
    enabled = cfg.CONF.api_settings.enabled_provider_drivers
    if not isinstance(name, str) or not name:
        name = cfg.CONF.api_settings.default_provider_driver
    if name not in enabled:
        raise exceptions.ProviderNotEnabled(prov=name)
    driver = Timed()
    driver.name = name
    return driver


driver_factory.get_driver = driver_named
application = api.setup_app(argv=sys.argv)
sqlite3.connect(database).execute('PRAGMA journal_mode=WAL')
base_models.BASE.metadata.create_all(db.get_engine())


def furnish():
    """The words that other tables refer to, and the stand-ins for what was deleted."""
    words = {
        models.ProvisioningStatus: constants.SUPPORTED_PROVISIONING_STATUSES, models.OperatingStatus: constants.SUPPORTED_OPERATING_STATUSES,
        models.Protocol: constants.SUPPORTED_PROTOCOLS, models.Algorithm: constants.SUPPORTED_LB_ALGORITHMS,
        models.HealthMonitorType: constants.SUPPORTED_HEALTH_MONITOR_TYPES, models.SessionPersistenceType: constants.SUPPORTED_SP_TYPES,
        models.LBTopology: constants.SUPPORTED_LB_TOPOLOGIES, models.AmphoraRoles: constants.SUPPORTED_AMPHORA_ROLES,
        models.VRRPAuthMethod: constants.SUPPORTED_VRRP_AUTH, models.L7RuleType: constants.SUPPORTED_L7RULE_TYPES,
        models.L7RuleCompareType: constants.SUPPORTED_L7RULE_COMPARE_TYPES, models.L7PolicyAction: constants.SUPPORTED_L7POLICY_ACTIONS,
        models.ClientAuthenticationMode: constants.SUPPORTED_CLIENT_AUTH_MODES,
    }
    session = db.get_session(autocommit=False)
    if session.query(models.ProvisioningStatus).count():
        return  # by an earlier process
    for model, names in words.items():
        session.add_all(model(name=name) for name in names)
    nil = constants.NIL_UUID
    session.add(models.FlavorProfile(id=nil, name='deleted', provider_name=constants.DELETED, flavor_data='{}'))
    session.add(models.AvailabilityZoneProfile(id=nil, name='deleted', provider_name=constants.DELETED, availability_zone_data='{}'))
    session.flush()
    session.add(models.Flavor(id=nil, name='deleted', enabled=False, flavor_profile_id=nil))
    session.add(models.AvailabilityZone(name=nil, enabled=False, availability_zone_profile_id=nil))
    session.commit()


furnish()


class Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    daemon_threads = True
    request_queue_size = 64


class Quiet(simple_server.WSGIRequestHandler):
    def log_message(self, *args):
        pass

    def address_string(self):
        return self.client_address[0]


def slowness():
    try:
        with open(slow) as f:
            return float(f.read())
    except FileNotFoundError:
        return 0


def front(environ, start_response):
    if environ['REQUEST_METHOD'] == 'GET':
        return application(environ, start_response)
    with turn:
        if environ['REQUEST_METHOD'] == 'POST' and environ['PATH_INFO'].endswith('/lbaas/loadbalancers'):
            time.sleep(slowness())
        return list(application(environ, start_response))


simple_server.make_server('127.0.0.1', port, front, server_class=Server, handler_class=Quiet).serve_forever()
