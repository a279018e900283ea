"""neutron.py CONFIG DATABASE: Neutron's own server, on tables made from its models."""
import sqlite3
import sys

config, database = sys.argv[1:3]

import sqlalchemy
from neutron.db.migration.models import head  # noqa: F401  every table is declared by this import
from neutron_lib.db import model_base

model_base.BASEV2.metadata.create_all(sqlalchemy.create_engine('sqlite:///' + database))
sqlite3.connect(database).execute('PRAGMA journal_mode=WAL')

from neutron.cmd.eventlet import server

sys.argv = ['neutron-server', '--config-file', config]
sys.exit(server.main())
