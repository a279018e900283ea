"""keystone.py PORT: Keystone's own application, one request after the other.

Its configuration is in the folder of OS_KEYSTONE_CONFIG_DIR.
"""
import sys
from wsgiref import simple_server

port = int(sys.argv[1])
sys.argv = ['keystone']  # Keystone reads options of its own there

from keystone.server.wsgi import initialize_public_application


class Quiet(simple_server.WSGIRequestHandler):
    def log_message(self, *args):
        pass

    def address_string(self):
        return self.client_address[0]


server = simple_server.make_server('127.0.0.1', port, initialize_public_application(), handler_class=Quiet)
server.serve_forever()
